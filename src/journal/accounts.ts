/** What is known of each account, gate and pace, as tables keep it. Pure. */
import { Fault } from "../std/fault.ts";
import { problemOf } from "./columns.ts";
import type { ArchiveRow, GateRow, MirrorRow, PaceRow } from "./journal.ts";

/** A gate's columns. Times are epoch ms; `closedAt` null: it is open. */
export type GateColumns = {
  readonly closedAt: number | null;
  readonly code: string | null;
  readonly message: string | null;
  readonly probes: number;
  readonly nextProbeAt: number | null;
};

/** A pace's columns. Times are epoch ms; `limit` null: uploads at a time as configured, `code` null: no problem. */
export type PaceColumns = Omit<PaceRow, "problem"> & Pick<GateColumns, "code" | "message">;

/** The gate of an archive's row; open where there is none. */
export function gateOf(row: GateColumns | undefined): GateRow {
  const { closedAt = null, code, message, probes = 0, nextProbeAt = null } = row ?? {};
  return { closedAt, problem: problemOf(code, message), probes, nextProbeAt };
}

/** The pace of an archive's row; as configured where there is none. */
export function paceOf(row: PaceColumns | undefined): PaceRow {
  const { limit = null, pausedAt = null, pausedUntil = null, code, message } = row ?? {};
  return { limit, pausedAt, pausedUntil, problem: problemOf(code, message) };
}

/** A mirror cannot go on in another archive: nothing there is what its rows speak of. */
export function archiveChanged(
  mirror: Pick<MirrorRow, "name" | "archiveId">,
  archives: readonly ArchiveRow[],
  archiveId: number,
): Fault {
  const nameOf = (id: number) => archives.find((archive) => archive.id === id)?.name ?? `#${id}`;
  const was = nameOf(mirror.archiveId);
  return new Fault(
    "ARCHIVE_CHANGED",
    `mirror ${mirror.name}: its documents were sent to the archive ${was}, and the configuration says ${nameOf(archiveId)}`,
    `Say archive: ${was} again; or give the mirror another name, and all its files are sent to the other archive.`,
  );
}
