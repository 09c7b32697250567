import type { Duty, Member } from "../journal/crew.ts";
import type { ArchiveRow, MirrorRow } from "../journal/journal.ts";

/** One daemon of several on the journal. Times are epoch milliseconds. */
export type MemberReport = {
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
  readonly duties: readonly string[];
};

/** What is told of the daemons on a journal. */
export function membersOf(
  members: readonly Member[],
  rows: { readonly mirrors: readonly MirrorRow[]; readonly archives: readonly ArchiveRow[] },
  now: number,
): MemberReport[] {
  return members.map((member) => reportOf(member, (duty) => dutyName(duty, rows), now));
}

function reportOf(
  { renewedAt, duties, ...member }: Member,
  nameOf: (duty: Duty) => string,
  now: number,
): MemberReport {
  const { id, name, pid, version, web, startedAt, leaseUntil } = member;
  const lagMs = Math.max(0, now - renewedAt);
  const named = duties.map(nameOf).sort();
  return { id, name, pid, version, web, startedAt, leaseUntil, lagMs, duties: named };
}

function dutyName(duty: Duty, { mirrors, archives }: Parameters<typeof membersOf>[1]): string {
  const [kind, number] = duty.split(":");
  const known = kind === "account" ? archives : mirrors;
  const name = known.find(({ id }) => id === Number(number))?.name ?? number;
  return `${kind === "account" ? "archive" : "mirror"} ${name}`;
}
