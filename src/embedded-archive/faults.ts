import { z } from "zod";
import type { Fault } from "../std/fault.ts";
import { type Operation, PATHS } from "../wire/shapes.ts";
import { fieldOf, type Fields } from "./parameters.ts";
import { unusable, readShape } from "./refusal.ts";

const digits = z.string().regex(/^\d{1,16}$/);
/** A number that may be written as text, as options give it. */
const whole = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  z.union([z.number(), digits.transform(Number)]).pipe(z.int().min(min).max(max));
const flag = z.union([z.boolean(), z.enum(["true", "false"]).transform((text) => text === "true")]);
const text = z.string().regex(/^[\x20-\x7e]{1,1000}$/);
const code = z.string().regex(/^[A-Z][A-Z0-9_]{1,99}$/);
const httpStatus = whole(200, 599);
const ms = whole(0, 86_400_000);

/** The requests that an action befalls. */
const OCCASION = {
  /** Default: every operation. */
  on: z.enum(Object.keys(PATHS) as Operation[]).optional(),
  /** The first request that it befalls, counted from 1 among those that `on` names. Default 1. */
  nth: whole(1).optional(),
  /** How many requests it befalls, from there on. Default 1; Infinity, written `always`, for all. */
  times: z.union([z.literal("always").transform(() => Infinity), whole(0)]).optional(),
  /** Only uploads with this `filename`. */
  named: z.string().min(1).max(255).optional(),
};

const action = <const A extends string, P extends z.ZodRawShape>(name: A, parts: P) =>
  z.strictObject({ do: z.literal(name), ...parts, ...OCCASION });

/**
 * Faults on purpose, for tests and training: what a network, a proxy, or the archive itself may
 * do to one request; docs/embedded-archive.md says what each does. Nothing goes wrong unless a plan says so.
 *
 * "Stored" speaks of uploads; for the other operations it says whether the work was done at all.
 */
const FAULT_RULE = z.discriminatedUnion(
  "do",
  [
    action("delay", { ms }),
    action("dropBefore", {}),
    action("dropAfter", {}),
    action("storeLate", { ms }),
    action("status", {
      status: httpStatus,
      stored: flag,
      retryAfter: text.optional(),
      html: flag.optional(),
    }),
    action("truncate", {}),
    action("garbage", {}),
    action("redirect", { url: text }),
    action("early", {}),
    action("bomb", { bytes: whole(1, 4 * 1024 ** 3).optional() }),
    action("stale", { youngerThanMs: ms }),
    action("convert", { afterMs: z.union([z.literal("never"), ms]) }),
    action("shorten", { bytes: whole(1) }),
    action("misreport", { field: text, value: text.or(z.number().transform(String)) }),
    action("wrongDocument", {}),
    action("error", { code, stored: flag, status: httpStatus.optional() }),
    action("hollow", { lists: z.enum(["absent", "null", "empty"]) }),
  ],
  {
    error: ({ input }) => `there is no fault ${JSON.stringify((input as { do?: unknown }).do)}`,
  },
);

/** An action with the requests that it befalls. */
export type FaultRule = z.output<typeof FAULT_RULE>;
type WithoutOccasion<R> = R extends unknown ? Omit<R, keyof typeof OCCASION> : never;
export type FaultAction = WithoutOccasion<FaultRule>;

/** Rules as JSON gives them. */
export const FAULT_RULES = z.array(FAULT_RULE);

/**
 * A rule as one word: `[OPERATION:]ACTION[,NAME=VALUE…]`, with the names of the JSON form:
 * `upload:status,status=503,stored=false,times=always`. Throws EMBEDDED_ARCHIVE_OPTIONS.
 */
export function faultRuleOfText(written: string): FaultRule {
  const [head = "", ...parts] = written.split(",");
  const [name, on] = head.split(":", 2).reverse();
  const rule = new Map([["do", name], ...(on === undefined ? [] : [["on", on] as const])]);
  for (const part of parts) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(part) ?? [];
    if (name === undefined) throw noFault(`${JSON.stringify(part)} is no NAME=VALUE`);
    if (rule.has(name)) throw noFault(`${JSON.stringify(written)} names a part twice`);
    rule.set(name, value);
  }
  return readShape(FAULT_RULE, Object.fromEntries(rule), noFault);
}

function noFault(message: string): Fault {
  return unusable(message, "Write a fault as docs/embedded-archive.md lists it.");
}

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
