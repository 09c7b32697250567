/**
 * A process that opens a journal as its owner, for tests that end it the hard way.
 *
 * usage: node child.ts own|write PATH
 *
 * `own` holds the journal until it is ended. `write` adds documents without end; it prints the id of
 * each once it was acknowledged, and the code of the first two refusals before it ends.
 */
import { codeOf } from "../../../src/std/fault.ts";
import { SqliteJournal } from "../../../src/journal/sqlite-journal.ts";
import { appearing } from "../../contract/journal-desk.ts";

const [, , task, path = ""] = process.argv;
const owner = { pid: process.pid, web: "http://127.0.0.1:8470", startedAt: 1, version: "0.1.0" };
const journal = await SqliteJournal.open({ path, role: "owner", owner });
const mirror = await journal.mirror("scans", "/srv/scans");
process.stdout.write("open\n");
if (task === "own") process.stdin.resume();
if (task === "write") {
  await Promise.all([write("a"), write("b"), write("c")]);
  process.exit(3);
}

async function write(dir: string): Promise<void> {
  let refusals = 0;
  for (let n = 0; refusals < 2; n++) {
    const document = appearing(mirror.id, `${dir}/${process.pid}-${n}-${"x".repeat(100)}`);
    try {
      const [applied] = await journal.apply([{ type: "add", document }]);
      process.stdout.write(`${applied?.document?.id}\n`);
    } catch (error) {
      refusals += 1;
      process.stdout.write(`${codeOf(error)}\n`);
    }
  }
}
