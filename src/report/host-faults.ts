/**
 * What only the daemon's process knows: that its page does not listen, that its new configuration has errors. It keeps
 * that in the journal, for those who ask from outside.
 */
import { AWAY_KEYS, type Instance } from "../journal/cluster.ts";
import type { ArchiveState, Sharing } from "../journal/journal.ts";
import type { Fault } from "../std/fault.ts";
import { observersOf } from "../sync/away.ts";

/** Why, and what to do. */
export type HostFault = Pick<Fault, "message" | "hint">;

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
