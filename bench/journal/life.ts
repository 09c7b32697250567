/**
 * The ordinary life of documents in a journal, and what that costs: a program of its own, so that journals of two trees
 * can be measured in turns.
 *
 *     node bench/journal/life.ts TREE PLACE COUNT
 *
 * `TREE` is a checkout of scanferry whose sources are read, `PLACE` the path of a new journal. Prints one line of JSON:
 * `Life`.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Event } from "../../src/domain/life.ts";
import type { Change, NewDocument } from "../../src/journal/journal.ts";
import type { openJournal } from "../../src/journal/open-journal.ts";

/** What a life cost: microseconds of processor time a document, of this process; seconds of all documents. */
export type Life = { readonly cpuUs: number; readonly seconds: number };

/** Documents whose changes are committed together. */
const GROUP = 64;
const NOW = 1_790_000_000_000;

const [tree = "", place = "", counted = ""] = process.argv.slice(2);
const count = Number(counted);
const at = pathToFileURL(join(tree, "src/journal/open-journal.ts")).href;
const opened: { openJournal: typeof openJournal } = await import(at);
const owner = { pid: process.pid, startedAt: NOW, version: "bench" };
const journal = await opened.openJournal(place, "owner", { owner });
const { id: mirrorId } = await journal.mirror("scans", "/srv/scans");

const before = process.cpuUsage();
const began = performance.now();
for (let first = 0; first < count; first += GROUP) {
  const all = Array.from({ length: Math.min(GROUP, count - first) }, (_, n) => first + n);
  const added = await journal.apply(all.map((n) => ({ type: "add", document: fileOf(n) })));
  const ids = added.map(({ document }) => document?.id ?? 0);
  for (const step of [settled, claimed, accepted, converted]) {
    const changes = ids.map((id, n): Change => ({ type: "event", id, event: step(first + n) }));
    await journal.apply(
      step === settled ? changes.flatMap((change, n) => [batchOf(first + n), change]) : changes,
    );
  }
}
const seconds = (performance.now() - began) / 1_000;
const { user, system } = process.cpuUsage(before);
await journal.close();
const life: Life = { cpuUs: (user + system) / count, seconds };
console.log(JSON.stringify(life));

function fileOf(n: number): NewDocument {
  const seen = {
    sizeBytes: 20_000 + n,
    modifiedAt: NOW - 0.5,
    stamp: `${n}.mabcdefgh.mabcdefgh.1x`,
  };
  return {
    mirrorId,
    dir: `d${String(Math.floor(n / 100)).padStart(3, "0")}`,
    name: `scan ${n}.pdf`,
    seen,
    at: NOW + n,
    dueAt: NOW + n + 3_000,
    supersedes: null,
  } as NewDocument;
}

/** As each document that joins its batch has it written. */
function batchOf(n: number): Change {
  const batch = { id: "b", mirrorId, openedAt: NOW, joinedAt: NOW + n, documents: n + 1 };
  return { type: "batch", batch };
}

function settled(n: number): Event {
  const digest = createHash("sha256").update(`${n}`).digest("hex");
  const sentName = `scan ${n}.pdf`;
  return {
    type: "settled",
    at: NOW + n + 10,
    digest,
    sentName,
    targetPath: "/Scans",
    remark: null,
    batch: "b",
  };
}

function claimed(n: number): Event {
  return { type: "claimed", at: NOW + n + 20, archiveAt: NOW + n, folderId: 7, batch: "b" };
}

function accepted(n: number): Event {
  return {
    type: "accepted",
    at: NOW + n + 30,
    dueAt: NOW + 9_000,
    documentId: n + 1,
    status: "UPLOADED",
  };
}

function converted(n: number): Event {
  return {
    type: "converted",
    at: NOW + n + 40,
    pages: 3,
    archiveBytes: 20_000 + n,
    digidoc: false,
    after: null,
  };
}
