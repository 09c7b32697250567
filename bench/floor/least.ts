/**
 * The least that a sender made of undici, form-data and better-sqlite3 does: no daemon, no settings, no checks,
 * nothing that could go wrong. How near to `curl` a program made of these can come at best. A program of its own:
 *
 *     node bench/floor/least.ts '{"kind": …, …}'    a `Least`, kinds.ts
 */
import { createHash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import Database from "better-sqlite3";
import { Pool } from "undici";
import { type Frame, frameOf } from "../../src/archive/request-body.ts";
import { directoryOf, pathOf } from "../daemon/tree.ts";
import type { Least } from "./kinds.ts";

/** Up to here a file is read at once, between the two halves of its frame. */
const WHOLE_BYTES_MAX = 4 * 1024 * 1024;
const CHUNK_BYTES = 512 * 1024;
/** Chunks of a file: one that is sent, and those that are read meanwhile. */
const RING = 3;

const least = JSON.parse(process.argv[2] ?? "") as Least;
const { bytes, concurrency, directories, files, kind, root } = least;
const pool = new Pool(least.url, { connections: concurrency, pipelining: 1 });
const journal = kind === "journal" ? openJournal(least.journal) : undefined;
/** Of files that were sent, to be used again. */
const spare: Buffer[] = [];
/** The constant fields are rendered once a folder. */
const frames = new Map<string, Frame>();

let next = 0;
await Promise.all(
  Array.from({ length: concurrency }, async () => {
    for (let index = next++; index < files; index = next++) await send(index);
  }),
);
await pool.close();

async function send(index: number): Promise<void> {
  const frame = frameFor(index);
  const length = frame.head.length + bytes + frame.tail.length;
  const path = join(root, pathOf(index, directories));
  const file = bytes > WHOLE_BYTES_MAX ? await open(path) : undefined;
  const whole = file ? null : readWhole(path, frame);
  const digest =
    kind === "send" ? "" : await digestOf(file ? chunksOf(file) : [contentOf(whole, frame)]);
  await journal?.intent(index, digest);
  const reply = await pool.request({
    method: "POST",
    path: "/api/v0_4/document/upload.html",
    headers: { "content-type": frame.contentType, "content-length": String(length) },
    body: file ? Readable.from(framed(frame, file)) : whole,
  });
  const { document } = (await reply.body.json()) as { document: { id: number } };
  if (whole) spare.push(whole);
  await file?.close();
  await journal?.outcome(index, document.id);
}

function frameFor(index: number): Frame {
  const folderId = String(2 + Number(directoryOf(index, directories).slice(1)));
  let frame = frames.get(folderId);
  if (!frame) {
    const fields = { folderId, batch: "a".repeat(36), acc_key: "demo", sig: "a".repeat(44) };
    frame = frameOf(Object.entries(fields), "@");
    frames.set(folderId, frame);
  }
  const head = frame.head.toString("latin1").replace('"@"', `"scan-${index}.bin"`);
  return { ...frame, head: Buffer.from(head, "latin1") };
}

function readWhole(path: string, { head, tail }: Frame): Buffer {
  const length = head.length + bytes + tail.length;
  const known = spare.pop();
  const body = known?.length === length ? known : Buffer.allocUnsafeSlow(length);
  head.copy(body);
  const file = openSync(path, "r");
  readSync(file, body, head.length, bytes, 0);
  closeSync(file);
  tail.copy(body, head.length + bytes);
  return body;
}

function contentOf(whole: Buffer | null, { head }: Frame): Buffer {
  return whole?.subarray(head.length, head.length + bytes) ?? Buffer.alloc(0);
}

async function digestOf(chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest("hex");
}

async function* framed({ head, tail }: Frame, file: FileHandle): AsyncGenerator<Buffer> {
  yield head;
  yield* chunksOf(file);
  yield tail;
}

/** Reads ahead; a chunk is good until the next but one is asked for. */
async function* chunksOf(file: FileHandle): AsyncGenerator<Buffer> {
  const ring = Array.from({ length: RING }, () => Buffer.allocUnsafeSlow(CHUNK_BYTES));
  const reads: Promise<Buffer>[] = [];
  let asked = 0;
  const ask = () => {
    const buffer = ring[(asked / CHUNK_BYTES) % RING] ?? Buffer.alloc(0);
    const read = file.read(buffer, 0, CHUNK_BYTES, asked);
    reads.push(read.then(({ bytesRead }) => buffer.subarray(0, bytesRead)));
    asked += CHUNK_BYTES;
  };
  for (let ahead = 1; ahead < RING; ahead++) if (asked < bytes) ask();
  for (let chunk = await reads.shift(); chunk; chunk = await reads.shift()) {
    yield chunk;
    if (asked < bytes) ask();
  }
}

/** One table without an index; what is asked for in one turn of the event loop is one commit. */
function openJournal(path: string) {
  const database = new Database(path);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.exec(
    "CREATE TABLE documents (id INTEGER PRIMARY KEY, path TEXT, digest TEXT, state TEXT, at INTEGER, remote INTEGER)",
  );
  const prepared = {
    found: database.prepare("INSERT INTO documents (id, path, state, at) VALUES (?, ?, 'seen', ?)"),
    intent: database.prepare(
      "UPDATE documents SET digest = ?, state = 'sent', at = ? WHERE id = ?",
    ),
    outcome: database.prepare(
      "UPDATE documents SET remote = ?, state = 'there', at = ? WHERE id = ?",
    ),
  };
  const together = database.transaction((writes: readonly (() => void)[]) => {
    for (const write of writes) write();
  });
  const all = Array.from({ length: files }, (_, index) => () => {
    prepared.found.run(index, pathOf(index, directories), Date.now());
  });
  together(all);
  let writes: (() => void)[] = [];
  let written: Promise<void> | undefined;
  const durably = (write: () => void): Promise<void> => {
    writes.push(write);
    written ??= new Promise((resolve) => {
      setImmediate(() => {
        together(writes);
        [writes, written] = [[], undefined];
        resolve();
      });
    });
    return written;
  };
  return {
    intent: (id: number, digest: string) =>
      durably(() => prepared.intent.run(digest, Date.now(), id)),
    outcome: (id: number, remote: number) =>
      durably(() => prepared.outcome.run(remote, Date.now(), id)),
  };
}
