/** What of an archive's work this daemon does, where several share a journal (docs/adr/0017). */
import { type Division, isOwn } from "../domain/division.ts";
import type { Crew, Duty } from "../journal/crew.ts";
import type { RawPath } from "../std/raw-path.ts";
import type { SyncContext } from "./context.ts";

/** Duties as they were at one moment: loops that run keep to them. */
export type Duties = {
  /** Others may work on the same journal. */
  readonly isShared: boolean;
  /** Doubts, polling, the gate, held rows, receipts. */
  readonly account: boolean;
  /** Whether it scans and settles this mirror, or parts of it, and puts its files away. */
  leads(mirrorId: number): boolean;
  /** Of a mirror that it leads, the parts; undefined: all of it. */
  division(mirrorId: number): Division | undefined;
  /** Whether it does what is done once for a mirror: tells hooks, lets go of what is long done. */
  heads(mirrorId: number): boolean;
};

/** Those of a daemon that is alone. */
export const ALL_DUTIES: Duties = {
  isShared: false,
  account: true,
  leads: () => true,
  division: () => undefined,
  heads: () => true,
};

/** A mirror, and into how many parts it is divided. */
export type Divided = { readonly id: number; readonly parts: number };

/** What there is to do for an archive and its mirrors. */
export function dutiesFor(archiveId: number, mirrors: readonly Divided[]): Duty[] {
  return [`account:${archiveId}`, ...mirrors.flatMap(dutiesOfMirror)];
}

/** What there is to do for a mirror, by its parts in their order. */
export function dutiesOfMirror({ id, parts }: Divided): Duty[] {
  if (parts === 1) return [`mirror:${id}`];
  return Array.from({ length: parts }, (_, at): Duty => `mirror:${id}/${at + 1}of${parts}`);
}

/** Whether it is work for this mirror, or for a part of it. */
export function isOfMirror(duty: Duty, mirrorId: number): boolean {
  return duty === `mirror:${mirrorId}` || duty.startsWith(`mirror:${mirrorId}/`);
}

/** Of all that there is to do, what this daemon has. */
export function dutiesOf(
  crew: Pick<Crew, "leads" | "leaseMs">,
  archiveId: number,
  mirrors: readonly Divided[],
): Duties {
  if (!isShared(crew)) return ALL_DUTIES;
  const led = new Map<number, readonly number[]>();
  const divisions = new Map<number, Division>();
  for (const mirror of mirrors) {
    const { id, parts } = mirror;
    const own = dutiesOfMirror(mirror).flatMap((duty, at) => (crew.leads(duty) ? [at + 1] : []));
    if (own.length > 0) led.set(id, own);
    if (own.length < parts) divisions.set(id, { of: parts, own });
  }
  return {
    isShared: true,
    account: crew.leads(`account:${archiveId}`),
    leads: (mirrorId) => led.has(mirrorId),
    division: (mirrorId) => divisions.get(mirrorId),
    heads: (mirrorId) => led.get(mirrorId)?.includes(1) === true,
  };
}

/** Whether a directory's files are this daemon's to scan and settle. */
export function owns(duties: Duties, mirrorId: number, dir: RawPath): boolean {
  return duties.leads(mirrorId) && isOwn(duties.division(mirrorId), dir);
}

/** True of a journal that other daemons may work on: only there does a lease end. */
export function isShared({ leaseMs }: Pick<Crew, "leaseMs">): boolean {
  return leaseMs !== Number.POSITIVE_INFINITY;
}

/** The context of loops that know only the mirrors that this daemon leads. */
export function ledIn(context: SyncContext): SyncContext {
  const { duties = ALL_DUTIES, mirrors } = context;
  if (!duties.isShared) return context;
  return { ...context, mirrors: new Map([...mirrors].filter(([id]) => duties.leads(id))) };
}
