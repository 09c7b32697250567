/**
 * Run by shares.sh when all is over: compares what was to be scanned, what the servers hold, the
 * daemon's journal and the archive's whole store.
 *
 *     node shares-audit.ts DOCUMENTS SERVED JOURNAL ARCHIVE
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { EmbeddedArchive } from "../../src/embedded-archive/embedded-archive.ts";
import { SqliteJournal } from "../../src/journal/sqlite-journal.ts";
import { audit, digestOf, rowsOf } from "../../test/fixtures/auditor.ts";

const [documents = "", source = "", journal = "", dataDir = ""] = process.argv.slice(2);

const digests = (directory: string) =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => digestOf(readFileSync(join(entry.parentPath, entry.name))));

/** Documents whose history says, at any time, that their file had gone. */
async function takenForRemoved(): Promise<number> {
  const rows = await rowsOf(journal);
  await using reader = await SqliteJournal.open({ path: journal, role: "reader" });
  const histories = await Promise.all(rows.map(({ id }) => reader.history(id)));
  const gone = histories.filter((lines) =>
    lines.some(({ detail }) => /file is gone|was removed/.test(detail ?? "")),
  );
  return gone.length;
}

await using archive = await EmbeddedArchive.open({
  dataDir,
  listen: { host: "127.0.0.1", port: 0 },
  accounts: [{ key: "proof", secret: "kept-secret-4711" }],
});
const whole = new Set(digests(documents));
const stored = archive.documents();
const once = new Set(stored.map(({ sha256 }) => sha256));
const torn = stored.filter(({ sha256 }) => !whole.has(sha256)).length;
const problems = await audit({ source, journal, archive }, { mirrors: true });
const removed = await takenForRemoved();
const counts = `${whole.size} written, ${digests(source).length} on the servers, ${stored.length} in the archive`;
const saw = (what: string, value: string | number) => console.log(`   ${what.padEnd(44)} ${value}`);
saw("documents", counts);
saw("more than once in the archive", stored.length - once.size);
saw("partial, or other bytes", torn);
saw("not in the archive", [...whole].filter((digest) => !once.has(digest)).length);
saw("ever taken for removed", removed);
saw("what the auditor found", problems.length);
for (const problem of problems.slice(0, 20)) console.log(`   ${problem}`);
const isOnce = once.size === whole.size && stored.length === once.size;
process.exitCode = isOnce && torn + removed + problems.length === 0 ? 0 : 1;
