import type { State } from "../domain/document.ts";
import { counted } from "../std/wording.ts";
import type { ProblemGroup } from "./problems.ts";
import type { StatusReport } from "./status.ts";
import { AWAY_KEYS, type Instance } from "../journal/cluster.ts";
import type { ArchiveState, Sharing } from "../journal/journal.ts";
import type { Fault } from "../std/fault.ts";
import { observersOf } from "../sync/away.ts";

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

/**
 * What only the daemon's process knows: that its page does not listen, that its new configuration has errors. It keeps
 * that in the journal, for those who ask from outside.
 */

/** Why, and what to do. */
type HostFault = Pick<Fault, "message" | "hint">;

/** Undefined: all is well. */
export type HostFaults = {
  readonly page?: HostFault | undefined;
  /** What is wrong with it. */
  readonly config?: string | undefined;
};

type Observer = Pick<Instance, "id" | "name">;

const keyOf = ({ name }: Observer) => `${AWAY_KEYS}host/${name}`;

/** Keeps what this daemon knows, in the place of what it knew. */
export async function noteHostFaults(
  journal: ArchiveState & Sharing,
  faults: HostFaults,
): Promise<void> {
  const { cluster } = journal;
  const instances = await cluster.instances();
  const own = observersOf(instances, true).find(({ id }) => id === cluster.instanceId);
  if (!own) return;
  await journal.setKeyValue(keyOf(own), JSON.stringify({ instance: own.id, ...faults }));
}

/** What the daemons that run have noted; of several with the same fault, the first. */
export async function hostFaultsOf(
  journal: ArchiveState & Sharing,
  isRunning: boolean,
): Promise<HostFaults> {
  let all: HostFaults = {};
  for (const own of observersOf(await journal.cluster.instances(), isRunning)) {
    const text = await journal.keyValue(keyOf(own));
    // Written by this program alone.
    const noted = text ? (JSON.parse(text) as HostFaults & { instance: number }) : undefined;
    if (noted?.instance === own.id)
      all = { page: all.page ?? noted.page, config: all.config ?? noted.config };
  }
  return all;
}
