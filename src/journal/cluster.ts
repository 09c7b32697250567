/** Several daemons on one journal: who is there, and who does what (docs/adr/0017). */
import type { Fault } from "../std/fault.ts";

/** Work that is done by one daemon at a time: of an archive (`ArchiveRow.id`), or of a mirror (`MirrorRow.id`). */
export type Assignment = { readonly kind: "account" | "mirror"; readonly id: number };

/** An assignment as the journal and the log have it. */
export function assignmentText({ kind, id }: Assignment): string {
  return `${kind}:${id}`;
}

/** Whether an assignment is this one. */
export function isSame({ kind, id }: Assignment): (other: Assignment) => boolean {
  return (other) => other.kind === kind && other.id === id;
}

/** A daemon on the journal. */
export type Instance = {
  /** Never used twice: a daemon that starts again is another instance. */
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
  readonly assignments: readonly Assignment[];
  /** Ownership of mirrors whose file system is its host's own; others leave them to it for a while. */
  readonly local: readonly Assignment[];
};

/** What happened in the cluster. */
export type ClusterChange =
  /** These assignments are this daemon's from now on; none of its loops does them yet. */
  | { readonly type: "gained"; readonly assignments: readonly Assignment[] }
  /** Other instances are gone: what they had under way is in doubt, and `Journal.underWay` shows it. */
  | { readonly type: "others-lost"; readonly instances: readonly Instance[] }
  /** The journal cannot be reached (without `fault`) or used just now, and is tried again; with why. */
  | { readonly type: "away"; readonly why: string; readonly fault?: Fault }
  | { readonly type: "back" }
  /** This daemon's lease is lost: every write rejects with `LEASE_LOST`, and it has to begin again. */
  | { readonly type: "lost" };

/** This daemon among all that work on the journal. */
export interface Cluster {
  /** This daemon's number; 0 where the journal has one owner. */
  readonly instanceId: number;
  /** The length of a lease, milliseconds; `Infinity` where the journal has one owner. */
  readonly leaseMs: number;
  /**
   * How much longer this daemon may hand bytes to the archive, milliseconds; 0 or less: not now.
   * Falls as time goes by and rises with every renewal.
   */
  readonly sendLeftMs: number;
  /** By how much the journal's clock is ahead of this host's, milliseconds. */
  readonly clockOffsetMs: number;
  /** Whether this daemon has the assignment. */
  owns(assignment: Assignment): boolean;
  /**
   * From now on this daemon takes these assignments whenever nobody has them, and keeps those that it has; resolves
   * after a first try.
   * `near`: those of mirrors whose file system is this host's own; the rest it leaves for a while to
   * instances that are near.
   */
  seek(assignments: readonly Assignment[], local?: readonly Assignment[]): Promise<void>;
  /** All that are not lost, this one too, by id. */
  instances(): Promise<Instance[]>;
  /** Calls `listener` for every change until the returned function is called. It must not throw. */
  listen(listener: (change: ClusterChange) => void): () => void;
}

/** How the names of key-value entries about instances begin; these mean nothing in another journal. */
export const AWAY_KEYS = "away:";

/** The key-value entry of what a daemon cannot reach of an archive; the daemon goes by its name, which it has again. */
export function awayKey(archiveId: number, instance: string): string {
  return `${AWAY_KEYS}${archiveId}/${instance}`;
}

/** Begins the key-value entry of each archive by its id, that is set once a daemon is found not to have ended in good order. */
export const UNCLEAN_KEYS = "unclean:";

/** What sets them, in both databases; what one says of an earlier end, which was not looked into, stays. */
export const MARK_UNCLEAN = `INSERT INTO key_values (name, text)
  SELECT '${UNCLEAN_KEYS}' || id, 'yes' FROM archives WHERE true
  ON CONFLICT (name) DO UPDATE SET text = excluded.text WHERE key_values.text = ''`;

/** The cluster of a journal that has one owner. */
export const SOLO_CLUSTER: Cluster = {
  instanceId: 0,
  leaseMs: Number.POSITIVE_INFINITY,
  sendLeftMs: Number.POSITIVE_INFINITY,
  clockOffsetMs: 0,
  owns: () => true,
  seek: async () => undefined,
  instances: async () => [],
  listen: () => () => undefined,
};

/** The cluster as one sees it who is no instance: without a lease, and without assignments. */
export function guestCluster(instances: Cluster["instances"]): Cluster {
  return { ...SOLO_CLUSTER, sendLeftMs: 0, owns: () => false, instances };
}

/** Whether a journal has one owner, and no other daemon shares it. */
export function isSolo({ instanceId }: Pick<Cluster, "instanceId">): boolean {
  return instanceId === SOLO_CLUSTER.instanceId;
}
