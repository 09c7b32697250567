/** Several daemons on one journal: who is there, and who does what (docs/adr/0017). */
import type { Fault } from "../std/fault.ts";

/** Work that is done by one daemon at a time: of an archive (`ArchiveRow.id`), or of a mirror (`MirrorRow.id`). */
export type Duty = `account:${number}` | `mirror:${number}`;

/** A daemon on the journal. */
export type Member = {
  /** Never used twice: a daemon that starts again is another member. */
  readonly id: number;
  /** What people call it: `instance` of its configuration, or its host's name. */
  readonly name: string;
  readonly pid: number;
  readonly version: string;
  /** Address of its page, where it has one. */
  readonly web: string | null;
  /** Epoch ms, by the journal's clock. */
  readonly startedAt: number;
  /** When its lease was renewed last, and when it ends; epoch ms, by the journal's clock. */
  readonly renewedAt: number;
  readonly leaseUntil: number;
  readonly duties: readonly Duty[];
  /** Duties of mirrors whose file system is its host's own; others leave them to it for a while. */
  readonly near: readonly Duty[];
};

/** What happened in the crew. */
export type CrewChange =
  /** These duties are this daemon's from now on; none of its loops does them yet. */
  | { readonly type: "gained"; readonly duties: readonly Duty[] }
  /** Other members are gone: what they had under way is in doubt, and `Journal.underWay` shows it. */
  | { readonly type: "others-lost"; readonly members: readonly Member[] }
  /** The journal cannot be reached (without `fault`) or used just now, and is tried again; with why. */
  | { readonly type: "away"; readonly why: string; readonly fault?: Fault }
  | { readonly type: "back" }
  /** This daemon's lease is lost: every write rejects with `LEASE_LOST`, and it has to begin anew. */
  | { readonly type: "lost" };

/** This daemon among all that work on the journal. */
export interface Crew {
  /** This daemon's number; 0 where the journal has one owner. */
  readonly memberId: number;
  /** The length of a lease, milliseconds; `Infinity` where the journal has one owner. */
  readonly leaseMs: number;
  /**
   * How much longer this daemon may hand bytes to the archive, milliseconds; 0 or less: not now.
   * Falls as time goes by and rises with every renewal.
   */
  readonly sendLeftMs: number;
  /** By how much the journal's clock is ahead of this host's, milliseconds. */
  readonly clockOffsetMs: number;
  /** Whether this daemon has the duty. */
  leads(duty: Duty): boolean;
  /**
   * From now on this daemon takes these duties whenever nobody has them, and keeps those that it has; resolves
   * after a first try.
   * `near`: those of mirrors whose file system is this host's own; the rest it leaves for a while to
   * members that are near.
   */
  seek(duties: readonly Duty[], near?: readonly Duty[]): Promise<void>;
  /** All that are not lost, this one too, by id. */
  members(): Promise<Member[]>;
  /** Calls `listener` for every change until the returned function is called. It must not throw. */
  listen(listener: (change: CrewChange) => void): () => void;
}

/** What the names of memos begin with that tell of members, which mean nothing in another journal. */
export const AWAY_MEMOS = "away:";

/** The memo of what a daemon cannot reach of an archive; the daemon goes by its name, which it has again. */
export function awayMemo(archiveId: number, member: string): string {
  return `${AWAY_MEMOS}${archiveId}/${member}`;
}

/** Begins the memo of each archive by its id, that is set once a daemon is found not to have ended in good order. */
export const UNCLEAN_MEMOS = "unclean:";

/** What sets them, in both databases; what one says of an earlier end, which was not looked into, stays. */
export const MARK_UNCLEAN = `INSERT INTO memos (name, text)
  SELECT '${UNCLEAN_MEMOS}' || id, 'yes' FROM archives WHERE true
  ON CONFLICT (name) DO UPDATE SET text = excluded.text WHERE memos.text = ''`;

/** The crew of a journal that has one owner. */
export const SOLO_CREW: Crew = {
  memberId: 0,
  leaseMs: Number.POSITIVE_INFINITY,
  sendLeftMs: Number.POSITIVE_INFINITY,
  clockOffsetMs: 0,
  leads: () => true,
  seek: async () => undefined,
  members: async () => [],
  listen: () => () => undefined,
};

/** Whether a journal has one owner, and no other daemon shares it. */
export function isSolo({ memberId }: Pick<Crew, "memberId">): boolean {
  return memberId === SOLO_CREW.memberId;
}
