import type { Operation } from "../wire/shapes.ts";
import { type Fields, fieldOf } from "./fields.ts";

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
