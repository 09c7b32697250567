import { Fault } from "../std/fault.ts";
import { type Operation, PATHS } from "../wire/shapes.ts";
import type { FaultAction, FaultRule } from "./faults.ts";

/** How the value of one part of a rule is read; undefined: it cannot be meant. */
type Read = (value: unknown) => unknown;

const DELAY_MS_MAX = 86_400_000;
const BOMB_BYTES_MAX = 4 * 1024 ** 3;

const flag: Read = (value) => BOOLEANS.get(value);
const BOOLEANS = new Map<unknown, boolean>([
  [true, true],
  [false, false],
  ["true", true],
  ["false", false],
]);
const text: Read = (value) =>
  typeof value === "string" && /^[\x20-\x7e]{1,1000}$/.test(value) ? value : undefined;
const code: Read = (value) =>
  typeof value === "string" && /^[A-Z][A-Z0-9_]{1,99}$/.test(value) ? value : undefined;
const name: Read = (value) =>
  typeof value === "string" && value.length > 0 && value.length <= 255 ? value : undefined;
const ms = whole(0, DELAY_MS_MAX);
const msOrNever: Read = (value) => (value === "never" ? value : ms(value));

/** The parts of each action. Those with a star may be left out. */
const ACTIONS: { readonly [A in FaultAction["do"]]: Readonly<Record<string, Read>> } = {
  delay: { ms },
  dropBefore: {},
  dropAfter: {},
  storeLate: { ms },
  status: { status: whole(200, 599), stored: flag, "retryAfter*": text, "html*": flag },
  truncate: {},
  garbage: {},
  redirect: { url: text },
  early: {},
  bomb: { "bytes*": whole(1, BOMB_BYTES_MAX) },
  stale: { youngerThanMs: ms },
  convert: { afterMs: msOrNever },
  shorten: { bytes: whole(1, Number.MAX_SAFE_INTEGER) },
  misreport: { field: text, value: text },
  wrongDocument: {},
  error: { code, stored: flag, "status*": whole(200, 599) },
  hollow: {
    lists: (value) => (["absent", "null", "empty"].includes(String(value)) ? value : undefined),
  },
};

/** When it befalls; the same for every action. */
const OCCASION: Readonly<Record<string, Read>> = {
  "on*": (value) => (Object.hasOwn(PATHS, String(value)) ? value : undefined),
  "nth*": whole(1, Number.MAX_SAFE_INTEGER),
  "named*": name,
  "times*": (value) => (value === "always" ? Infinity : whole(0, Number.MAX_SAFE_INTEGER)(value)),
};

/**
 * Rules as JSON gives them: a list of objects such as
 * `{"on": "upload", "do": "status", "status": 503, "stored": false, "times": "always"}`.
 * A Fault with EMBEDDED_ARCHIVE_OPTIONS says what cannot be meant.
 */
export function faultRulesOf(json: unknown): FaultRule[] {
  if (!Array.isArray(json)) throw unusable("the plan is no list of rules");
  return json.map(ruleOf);
}

/**
 * A rule as one word: `[OPERATION:]ACTION[,NAME=VALUE…]`, with the names of the JSON form:
 * `upload:status,status=503,stored=false,times=always`. Throws EMBEDDED_ARCHIVE_OPTIONS.
 */
export function faultRuleOfText(written: string): FaultRule {
  const [head = "", ...parts] = written.split(",");
  const [action, on] = head.split(":", 2).reverse();
  const pairs = parts.map((part): [string, string] => {
    const at = part.indexOf("=");
    if (at < 1) throw unusable(`${JSON.stringify(part)} is no NAME=VALUE`);
    return [part.slice(0, at), part.slice(at + 1)];
  });
  const names = new Set([...pairs.map(([name]) => name), "do", "on"]);
  if (names.size !== pairs.length + 2)
    throw unusable(`${JSON.stringify(written)} names a part twice`);
  return ruleOf({ ...Object.fromEntries(pairs), do: action, ...(on === undefined ? {} : { on }) });
}

function ruleOf(given: unknown): FaultRule {
  if (typeof given !== "object" || given === null) throw unusable("a rule is no object");
  const { do: action, ...rest } = given as Record<string, unknown>;
  const known = typeof action === "string" && Object.hasOwn(ACTIONS, action);
  if (!known) throw unusable(`there is no fault ${JSON.stringify(action) ?? "without do"}`);
  const parts = { ...ACTIONS[action as FaultAction["do"]], ...OCCASION };
  const rule: Record<string, unknown> = { do: action };
  for (const [starred, read] of Object.entries(parts)) {
    const name = starred.replace("*", "");
    const value = rest[name];
    delete rest[name];
    if (value === undefined && starred.endsWith("*")) continue;
    const meant = read(value);
    if (meant === undefined)
      throw unusable(`${action}: ${name} cannot be ${JSON.stringify(value) ?? "missing"}`);
    rule[name] = meant;
  }
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw unusable(`${action} has no ${JSON.stringify(unknown)}`);
  // Each part of the table was read with its reader, and nothing else is in it.
  return rule as FaultRule & { on?: Operation };
}

/** Also written as text, as options give it. */
function whole(min: number, max: number): Read {
  return (value) => {
    const isText = typeof value === "string" && /^\d{1,16}$/.test(value);
    const number = isText ? Number(value) : value;
    const fits = Number.isSafeInteger(number) && Number(number) >= min && Number(number) <= max;
    return fits ? number : undefined;
  };
}

function unusable(message: string): Fault {
  return new Fault(
    "EMBEDDED_ARCHIVE_OPTIONS",
    message,
    "Write a fault as docs/embedded-archive.md lists it.",
  );
}
