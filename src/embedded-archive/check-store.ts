import { readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { type Blobs, digestOf, incomingOf } from "./blobs.ts";
import type { Store } from "./store.ts";

/** Something that is not as it should be. */
export type CheckFinding = {
  what: "missing" | "damaged" | "orphan" | "temporary" | "foreign" | "charges" | "database";
  /** One line: the file below the data directory or the document, and what is wrong with it. */
  message: string;
};

/** What a check looked at. */
export type CheckTotal = { documents: number; blobs: number; bytes: number };

/**
 * Compares rows and files of an archive that nobody has open: every blob is read and its digest
 * compared. Changes nothing. `temporary` and `orphan` are what a crash may leave; the next start
 * finishes or removes them.
 */
export async function* check(
  { store, blobs, dataDir }: { store: Store; blobs: Blobs; dataDir: string },
  total: CheckTotal,
): AsyncGenerator<CheckFinding> {
  for (const line of store.damage()) yield { what: "database", message: line };
  for (const { key, pages_used, charged } of store.holdings.wrongCharges())
    yield {
      what: "charges",
      message: `account ${key} was charged ${pages_used} pages, its documents make ${charged}`,
    };
  const incoming = new Set<string>();
  for (const name of await readdir(incomingOf(dataDir))) {
    const path = join(incomingOf(dataDir), name);
    incoming.add(await digestOf(path));
    yield { what: "temporary", message: `${relative(dataDir, path)} is an unfinished upload` };
  }
  const known = new Map<string, { size: number; id: number }>();
  for (const { sha256, size, id } of store.holdings.blobs()) known.set(sha256, { size, id });
  total.documents = store.accounts().reduce((sum, { id }) => sum + countOf(store, id), 0);
  yield* checkFiles(join(dataDir, "blobs"), dataDir, known, total);
  for (const [sha256, { id }] of known)
    if (!(await blobs.has(sha256)) && !incoming.has(sha256))
      yield { what: "missing", message: `document ${id} has no bytes: ${sha256} is not there` };
}

async function* checkFiles(
  root: string,
  dataDir: string,
  known: ReadonlyMap<string, { size: number; id: number }>,
  total: CheckTotal,
): AsyncGenerator<CheckFinding> {
  for (const shard of (await readdir(root)).sort()) {
    const dir = join(root, shard);
    const names = (await stat(dir)).isDirectory() ? (await readdir(dir)).sort() : [undefined];
    for (const name of names) {
      const path = name === undefined ? dir : join(dir, name);
      const finding = await checkFile(path, shard, name ?? "", known, total);
      if (finding) yield { ...finding, message: `${relative(dataDir, path)} ${finding.message}` };
    }
  }
}

async function checkFile(
  path: string,
  shard: string,
  name: string,
  known: ReadonlyMap<string, { size: number; id: number }>,
  total: CheckTotal,
): Promise<CheckFinding | undefined> {
  if (!/^[0-9a-f]{64}$/.test(name) || !name.startsWith(shard))
    return { what: "foreign", message: "is none of the archive's files" };
  const row = known.get(name);
  if (!row) return { what: "orphan", message: "belongs to no document" };
  const { size } = await stat(path);
  total.blobs += 1;
  total.bytes += size;
  if (size !== row.size)
    return { what: "damaged", message: `has ${size} bytes, document ${row.id} has ${row.size}` };
  if ((await digestOf(path)) === name) return undefined;
  return { what: "damaged", message: `of document ${row.id} has another digest than its name` };
}

function countOf(store: Store, accountId: number): number {
  const { uploaded, converted } = store.holdings.stateCounts(accountId);
  return uploaded + converted;
}
