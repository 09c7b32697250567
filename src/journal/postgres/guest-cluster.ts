import type { Cluster, Instance } from "../cluster.ts";

/** The cluster as one sees it who is no instance: without a lease, and without assignments. */
export function guestCluster(instances: () => Promise<Instance[]>): Cluster {
  return {
    instanceId: 0,
    leaseMs: Number.POSITIVE_INFINITY,
    sendLeftMs: 0,
    clockOffsetMs: 0,
    owns: () => false,
    seek: async () => undefined,
    instances,
    listen: () => () => undefined,
  };
}
