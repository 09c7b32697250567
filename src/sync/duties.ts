/** What of an archive's work this daemon does, where several share a journal (docs/adr/0017). */
import type { Crew, Duty } from "../journal/crew.ts";
import type { SyncContext } from "./context.ts";

/** Duties as they were at one moment: loops that run keep to them. */
export type Duties = {
  /** Others may work on the same journal. */
  readonly isShared: boolean;
  /** Doubts, polling, the gate, held rows, receipts. */
  readonly account: boolean;
  /** Whether it scans and settles this mirror, and puts its files away. */
  leads(mirrorId: number): boolean;
};

/** Those of a daemon that is alone. */
export const ALL_DUTIES: Duties = { isShared: false, account: true, leads: () => true };

/** What there is to do for an archive and its mirrors. */
export function dutiesFor(archiveId: number, mirrorIds: readonly number[]): Duty[] {
  return [`account:${archiveId}`, ...mirrorIds.map((id) => `mirror:${id}` as const)];
}

/** Those that this daemon has just now. */
export function dutiesOf(crew: Crew, archiveId: number, mirrorIds: readonly number[]): Duties {
  if (!isShared(crew)) return ALL_DUTIES;
  const led = new Set(mirrorIds.filter((id) => crew.leads(`mirror:${id}`)));
  const account = crew.leads(`account:${archiveId}`);
  return { isShared: true, account, leads: (mirrorId) => led.has(mirrorId) };
}

export function isShared(crew: Crew): boolean {
  return crew.leaseMs !== Number.POSITIVE_INFINITY;
}

/** The context of loops that know only the mirrors that this daemon leads. */
export function ledIn(context: SyncContext): SyncContext {
  const { duties = ALL_DUTIES, mirrors } = context;
  if (!duties.isShared) return context;
  return { ...context, mirrors: new Map([...mirrors].filter(([id]) => duties.leads(id))) };
}
