/** What of an archive's work this daemon does, where several share a journal (docs/adr/0017). */
import type { Crew } from "../journal/crew.ts";

/** Duties as they are now; there may be more at any moment, and fewer once the daemon is lost. */
export type Duties = {
  /** Others may work on the same journal. */
  readonly isShared: boolean;
  /** Doubts, polling, the gate, held rows, receipts. */
  readonly account: boolean;
  /** Whether it scans and settles this mirror, puts its files away, and tells its hooks. */
  leads(mirrorId: number): boolean;
};

/** Those of a daemon that is alone. */
export const ALL_DUTIES: Duties = {
  isShared: false,
  account: true,
  leads: () => true,
};

/** Of all that there is to do, what this daemon has. */
export function dutiesOf(crew: Pick<Crew, "leads" | "leaseMs">, archiveId: number): Duties {
  if (!isShared(crew)) return ALL_DUTIES;
  return {
    isShared: true,
    get account() {
      return crew.leads(`account:${archiveId}`);
    },
    leads: (mirrorId) => crew.leads(`mirror:${mirrorId}`),
  };
}

/** True of a journal that other daemons may work on: only there does a lease end. */
export function isShared({ leaseMs }: Pick<Crew, "leaseMs">): boolean {
  return leaseMs !== Number.POSITIVE_INFINITY;
}
