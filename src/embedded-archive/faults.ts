import { type Operation, PATHS } from "../wire/shapes.ts";
import { fieldOf, type Fields } from "./parameters.ts";
import { Fault } from "../std/fault.ts";

/**
 * Faults on purpose, for tests and training: what a network, a proxy, or the archive itself may
 * do to one request. Nothing goes wrong unless a plan says so.
 *
 * "Stored" speaks of uploads; for the other operations it says whether the work was done at all.
 */
export type FaultAction =
  /** Waits, then goes on as usual. */
  | { do: "delay"; ms: number }
  /** The whole request is read; the connection breaks, nothing is stored. */
  | { do: "dropBefore" }
  /** The document is stored; the connection breaks instead of a reply. */
  | { do: "dropAfter" }
  /** The connection breaks; the document is stored all the same, `ms` later. */
  | { do: "storeLate"; ms: number }
  /** A reply with this status (500, 502, 503, 429, …), with or without having stored. */
  | { do: "status"; status: number; stored: boolean; retryAfter?: string; html?: boolean }
  /** Stored; the JSON of the reply ends in the middle. */
  | { do: "truncate" }
  /** Stored; the reply says 200 and is no JSON. */
  | { do: "garbage" }
  /** 307 to another address; nothing is stored. */
  | { do: "redirect"; url: string }
  /** An OK before the file was read, and then no more reading; nothing is stored. */
  | { do: "early" }
  /** Stored; a small compressed reply that grows to `bytes` (256 MiB unless said). */
  | { do: "bomb"; bytes?: number }
  /** Lists and searches leave out documents uploaded less than `youngerThanMs` ago. */
  | { do: "stale"; youngerThanMs: number }
  /** The uploaded document is converted after `afterMs`, or never while the archive is open. */
  | { do: "convert"; afterMs: number | "never" }
  /** Of the file no more than its first `bytes` are stored. */
  | { do: "shorten"; bytes: number }
  /** What the reply says of CONVERTED documents is wrong in one field. */
  | { do: "misreport"; field: string; value: string }
  /** Stored; the reply shows another document's id and name. */
  | { do: "wrongDocument" }
  /** An ERROR in the interface's form with any code and status, with or without having stored. */
  | { do: "error"; code: string; stored: boolean; status?: number }
  /** OK to a list or a search, but its lists are left out, null, or empty though there are pages. */
  | { do: "hollow"; lists: "absent" | "null" | "empty" };

/** An action with the requests that it befalls. */
export type FaultRule = FaultAction & {
  /** Default: every operation. */
  on?: Operation;
  /** The first request that it befalls, counted from 1 among those that `on` names. Default 1. */
  nth?: number;
  /** How many requests it befalls, from there on. Default 1; Infinity for all. */
  times?: number;
  /** Only uploads with this `filename`. */
  named?: string;
};

/** A request as a plan sees it. `nth` counts the requests of this operation from 1. */
export type FaultOccasion = { operation: Operation; nth: number; fields: Fields };

/** Rules, of which the first that fits a request counts; or a function that decides. */
export type FaultPlan =
  | readonly FaultRule[]
  | ((occasion: FaultOccasion) => FaultAction | undefined);

/** A plan in force, with its counts. */
export class FaultSchedule {
  readonly #plan: FaultPlan;
  readonly #byOperation = new Map<Operation, number>();
  readonly #byRule = new Map<FaultRule, number>();

  constructor(plan: FaultPlan | undefined) {
    this.#plan = plan ?? [];
  }

  /** Counts one request and says what befalls it. */
  next(operation: Operation, fields: Fields): FaultAction | undefined {
    const nth = (this.#byOperation.get(operation) ?? 0) + 1;
    this.#byOperation.set(operation, nth);
    if (typeof this.#plan === "function") return this.#plan({ operation, nth, fields });
    // Every rule counts the request, also behind one that fits: so `nth` means what it says.
    return this.#plan.filter((rule) => this.#befalls(rule, operation, fields))[0];
  }

  #befalls(rule: FaultRule, operation: Operation, fields: Fields): boolean {
    if (rule.on !== undefined && rule.on !== operation) return false;
    if (rule.named !== undefined && rule.named !== fieldOf(fields, "filename")) return false;
    const seen = (this.#byRule.get(rule) ?? 0) + 1;
    this.#byRule.set(rule, seen);
    const first = rule.nth ?? 1;
    return seen >= first && seen < first + (rule.times ?? 1);
  }
}

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
