import type { State } from "../domain/document.ts";
import { counted } from "../std/wording.ts";
import type { HostFaults } from "./host-faults.ts";
import type { ProblemGroup } from "./problems.ts";
import type { StatusReport } from "./status.ts";

/**
 * Every kind of finding, in the order in which findings are reported: what stops everything, then what stops a part,
 * then what a user may want to know.
 */
export const FINDING_KINDS = [
  "stalled",
  "gate",
  "paused",
  "notRunning",
  "outage",
  "failed",
  "source",
  "unread",
  "unwatched",
  "held",
  "stuck",
  "after",
  "waits",
  "allowance",
  "disk",
  "page",
  "config",
  "formerMirror",
  "unfinished",
  "sentEarly",
  "kept",
] as const;

/** What a finding is about. */
export type FindingKind = (typeof FINDING_KINDS)[number];

/**
 * - `error`: nothing of this moves until something changes, and it should not be so.
 * - `warning`: something waits, or will soon stop.
 * - `info`: nothing is wrong.
 */
export type Severity = "error" | "warning" | "info";

/**
 * What a user can ask for: `retry` puts the documents back in the queue, `sendAnyway` sends unfinished files as they are,
 * `sendAgain` sends what may be in the archive again if the archive does not have it, `adopt` links files to documents that
 * the archive has, `sendAsNew` sends them next to those, `resume` ends a pause.
 */
export type FindingAction = "retry" | "sendAnyway" | "sendAgain" | "adopt" | "sendAsNew" | "resume";

/**
 * One thing that is wrong, or that waits. The texts are English sentences on one line, fit for a terminal; `title` has
 * no full stop, `detail` and `fix` have. Times are epoch milliseconds.
 */
export type Finding = {
  /** Always the same for the same cause, e.g. `gate:main:QUOTA_LIMIT`. */
  readonly id: string;
  readonly kind: FindingKind;
  readonly severity: Severity;
  readonly title: string;
  /** Why, and what it means for the documents; may be empty. */
  readonly detail: string;
  /** What the user can do; empty where there is nothing to do. */
  readonly fix: string;
  /** Null: not known. */
  readonly since: number | null;
  /** When scanferry tries again; null: not by the clock, or no daemon runs. */
  readonly nextAttempt: number | null;
  /** Documents, files or folders that it is about; 0 where it counts none. */
  readonly count: number;
  readonly archive: string | null;
  readonly mirror: string | null;
  /**
   * The documents it is about, as `list --state` and `retry --error` select them, and the journal's id of the one that is
   * known longest; null: no documents.
   */
  readonly documents: {
    readonly state: State;
    readonly code: string;
    readonly first: number;
    /** The first of them, at least one, and what that one met. */
    readonly paths: readonly string[];
    readonly message: string;
  } | null;
  readonly actions: readonly FindingAction[];
};

/** What a finding says unless it says otherwise. */
export const PLAIN = {
  detail: "",
  fix: "",
  since: null,
  nextAttempt: null,
  count: 0,
  archive: null,
  mirror: null,
  documents: null,
  actions: [],
} as const;

/** A finding, known by its kind and by the archive or mirror that it is about, if `more` has no other `id`. */
export function finding(
  kind: FindingKind,
  severity: Severity,
  more: Pick<Finding, "title"> & Partial<Finding>,
): Finding {
  const about = more.archive ?? more.mirror;
  return { ...PLAIN, id: about ? `${kind}:${about}` : kind, kind, severity, ...more };
}

/** Everything that findings are made of. */
export type Situation = {
  readonly report: StatusReport;
  readonly problems: readonly ProblemGroup[];
  /** What the daemon says of its own work; absent: nothing is known. `fix`: what to do, where that is known. */
  readonly health?:
    | { readonly healthy: boolean; readonly why: string; readonly fix?: string }
    | undefined;
  /** The journal's disk, where it has less free space than it should have. */
  readonly lowDisk?: { readonly freeBytes: number; readonly path: string } | undefined;
  readonly hostFaults?: HostFaults;
};

/** With a full stop. */
export function sentence(text: string): string {
  return /[.!?]$/u.test(text) ? text : `${text}.`;
}

/** States of documents that are neither archived nor stopped. */
export const MOVING: readonly State[] = ["settling", "pending", "uploading", "inDoubt", "uploaded"];

/** Of those, the ones that a pause, a gate or an outage keeps back. */
export const WAITING: readonly State[] = ["settling", "pending"];

/** Documents of some states together. */
export function sumOf(documents: StatusReport["documents"], states: readonly State[]): number {
  return states.reduce((sum, state) => sum + documents[state], 0);
}

/** How many documents wait, as a sentence. */
export function waitSentence(count: number): string {
  if (count === 0) return "No document waits.";
  return `${counted(count, "document")} ${count === 1 ? "waits" : "wait"}.`;
}
