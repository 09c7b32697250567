/**
 * Commits intents through the journal's own interface, as fast as it can, and notes each outside of
 * the journal's disk once it was acknowledged. Arguments: journal, file of notes, `synced` or `unsynced`.
 */
import fs, { appendFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { SqliteJournal } from "../src/journal/sqlite-journal.ts";
import { Desk, events } from "../test/contract/journal-desk.ts";

const [path = "", notes = "", syncing] = process.argv.slice(2);
if (syncing === "unsynced") weaken();

await using journal = await SqliteJournal.open({ path, role: "owner" });
const desk = await Desk.at(journal);
for (let n = 0; ; n++) {
  const { id } = await desk.add(`${n}.pdf`);
  await desk.after(id, events.settled(`digest-${id}`), events.claimed());
  appendFileSync(notes, `${id}\n`);
}

/** The control: the same journal, committing without waiting for the disk. */
function weaken(): void {
  const unsynced = (_file: number, done: (error: null) => void) => setImmediate(done, null);
  Object.assign(fs, { fdatasync: unsynced });
  syncBuiltinESMExports();
}
