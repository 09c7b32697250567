/** What of an archive's work this daemon does, where several share a journal (docs/adr/0017). */
import { type Cluster, isSame } from "../journal/cluster.ts";

/** Assignments as they are now; there may be more at any moment, and fewer once the daemon is lost. */
export type Ownership = {
  /** Others may work on the same journal. */
  readonly isShared: boolean;
  /** Doubts, polling, the gate, held rows, receipts. */
  readonly account: boolean;
  /** Whether it scans and settles this mirror, moves or deletes its files, and tells its hooks. */
  owns(mirrorId: number): boolean;
  /**
   * Whether another daemon has this mirror now, be it configured here or not; undefined: one that may have ended before
   * this one began, and whose lease is not over.
   */
  isElsewhere(mirrorId: number): Promise<boolean | undefined>;
};

/** Those of a daemon that is alone. */
export const FULL_OWNERSHIP: Ownership = {
  isShared: false,
  account: true,
  owns: () => true,
  isElsewhere: async () => false,
};

/** Of all that there is to do, what this daemon has. */
export function ownershipOf(
  cluster: Pick<Cluster, "owns" | "leaseMs" | "instances" | "instanceId">,
  archiveId: number,
): Ownership {
  if (!isShared(cluster)) return FULL_OWNERSHIP;
  return {
    isShared: true,
    get account() {
      return cluster.owns({ kind: "account", id: archiveId });
    },
    owns: (mirrorId) => cluster.owns({ kind: "mirror", id: mirrorId }),
    isElsewhere: async (mirrorId) => {
      const isIt = isSame({ kind: "mirror", id: mirrorId });
      const all = await cluster.instances();
      const startedAt = all.find(({ id }) => id === cluster.instanceId)?.startedAt ?? Infinity;
      const others = all.filter(
        ({ id, assignments }) => id !== cluster.instanceId && assignments.some(isIt),
      );
      if (others.length === 0) return false;
      return others.some(({ renewedAt }) => renewedAt > startedAt) || undefined;
    },
  };
}

/** True of a journal that other daemons may work on: only there does a lease end. */
export function isShared({ leaseMs }: Pick<Cluster, "leaseMs">): boolean {
  return leaseMs !== Number.POSITIVE_INFINITY;
}
