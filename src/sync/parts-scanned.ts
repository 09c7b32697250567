/**
 * What is known of scans of a mirror that several daemons divide: each notes, with its number, which of
 * its parts it has walked to the end. A note counts for as long as the one that wrote it leads the part.
 */
import { scannedMemo } from "../journal/crew.ts";
import type { SyncContext } from "./context.ts";
import { dutiesOfMirror } from "./duties.ts";

type Known = Pick<SyncContext, "journal" | "duties">;

/** Notes that this daemon has scanned its parts of a mirror; of one that it has whole nobody asks. */
export async function noteScanned({ journal, duties }: Known, mirrorId: number): Promise<void> {
  const division = duties?.division(mirrorId);
  if (!division) return;
  const text = String(journal.crew.memberId);
  for (const part of division.own) {
    const name = scannedMemo(mirrorId, part, division.of);
    if ((await journal.memo(name)) !== text) await journal.setMemo(name, text);
  }
}

/** Whether the parts of a mirror that others lead were scanned by them; true where there are none. */
export async function othersScanned(
  { journal, duties }: Known,
  mirrorId: number,
): Promise<boolean> {
  const division = duties?.division(mirrorId);
  if (!division) return true;
  const members = await journal.crew.members();
  for (const [at, duty] of dutiesOfMirror({ id: mirrorId, parts: division.of }).entries()) {
    if (division.own.includes(at + 1)) continue;
    const leader = members.find(({ duties: led }) => led.includes(duty));
    if (!leader) return false;
    const memo = await journal.memo(scannedMemo(mirrorId, at + 1, division.of));
    if (memo !== String(leader.id)) return false;
  }
  return true;
}
