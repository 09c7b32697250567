import type { Assignment, Instance } from "../journal/cluster.ts";
import type { ArchiveRow, MirrorRow } from "../journal/journal.ts";

/** One daemon of several on the journal. Times are epoch milliseconds. */
export type InstanceReport = {
  /** Of this run alone. */
  readonly id: number;
  /** What people call it. */
  readonly name: string;
  readonly pid: number;
  readonly version: string;
  /** Address of its page; null without one. */
  readonly web: string | null;
  readonly startedAt: number;
  /** Without a renewal it is believed lost from then on. */
  readonly leaseUntil: number;
  /** How long ago it was last heard of, milliseconds. */
  readonly lagMs: number;
  /** What it does for all of them: `archive NAME`, `mirror NAME`. */
  readonly assignments: readonly string[];
};

/** What learns about the daemons on a journal. */
export function instancesOf(
  instances: readonly Instance[],
  rows: { readonly mirrors: readonly MirrorRow[]; readonly archives: readonly ArchiveRow[] },
  now: number,
): InstanceReport[] {
  return instances.map((instance) =>
    reportOf(instance, (assignment) => assignmentName(assignment, rows), now),
  );
}

function reportOf(
  { renewedAt, assignments, ...instance }: Instance,
  nameOf: (assignment: Assignment) => string,
  now: number,
): InstanceReport {
  const { id, name, pid, version, web, startedAt, leaseUntil } = instance;
  const lagMs = Math.max(0, now - renewedAt);
  const named = assignments.map(nameOf).sort();
  return { id, name, pid, version, web, startedAt, leaseUntil, lagMs, assignments: named };
}

function assignmentName(
  { kind, id }: Assignment,
  { mirrors, archives }: Parameters<typeof instancesOf>[1],
): string {
  const known = kind === "account" ? archives : mirrors;
  const name = known.find((row) => row.id === id)?.name ?? id;
  return `${kind === "account" ? "archive" : "mirror"} ${name}`;
}
