/**
 * Commits intents through the journal's own interface, as fast as it can, and notes each outside of
 * the journal's disk once it was acknowledged. Arguments: journal, file of notes, FULL or NORMAL.
 */
import { appendFileSync } from "node:fs";
import Database from "better-sqlite3";
import { SqliteJournal } from "../src/journal/sqlite-journal.ts";
import { Desk, events } from "../test/contract/journal-desk.ts";

const [path = "", notes = "", synchronous] = process.argv.slice(2);
if (synchronous === "NORMAL") weaken();

await using journal = await SqliteJournal.open({ path, role: "owner" });
const desk = await Desk.at(journal);
for (let n = 0; ; n++) {
  const { id } = await desk.add(`${n}.pdf`);
  await desk.after(id, events.settled(`digest-${id}`), events.claimed());
  appendFileSync(notes, `${id}\n`);
}

/** The control: the same journal, committing without waiting for the disk. */
function weaken(): void {
  const { pragma } = Object.getOwnPropertyDescriptors(Database.prototype);
  const real = pragma.value as Database.Database["pragma"];
  Database.prototype.pragma = function weakened(this: Database.Database, source, options) {
    return real.call(this, source.replace("synchronous = FULL", "synchronous = NORMAL"), options);
  };
}
