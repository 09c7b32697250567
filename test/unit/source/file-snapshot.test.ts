import { createHash, randomBytes } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { lookInside } from "../../../src/source/open-inside.ts";
import { FileChanged, FileGone } from "../../../src/source/file-fault.ts";
import {
  type Expected,
  IN_MEMORY_BYTES_MAX,
  openSnapshot,
  SLICED_BYTES_MIN,
  type FileSnapshot,
} from "../../../src/source/file-snapshot.ts";
import { inspect } from "../../../src/source/inspect.ts";
import { ContentTag } from "../../../src/source/known-contents.ts";
import { sourceStatus } from "../../../src/source/source-status.ts";
import type { RawPath } from "../../../src/std/raw-path.ts";
import { never, openBelow, put, raw, scratch, settingsOf } from "./scratch.ts";

const LARGE = IN_MEMORY_BYTES_MAX + (3 << 20) + 5;
const CHUNK = 1 << 20;
const path = raw("scan.bin");

/** What the journal would hold of the file as it is now. */
function expectedOf(source: string, content: Buffer, at: RawPath = path): Expected {
  const seen = lookInside(source, at);
  if (!seen) throw new Error(`${at} is gone`);
  return { seen, digest: createHash("sha256").update(content).digest("hex") };
}

function chunksOf(file: FileSnapshot): AsyncIterable<Buffer> {
  if ("bytes" in file) throw new Error("it is in memory");
  return file.chunks();
}

test.for([0, 1, 7000, SLICED_BYTES_MIN - 1])("%i bytes are held in memory", async (size) => {
  const dir = scratch();
  const content = randomBytes(size);
  put(dir, "scan.bin", content);
  const { file, close } = await openSnapshot(
    settingsOf(dir),
    path,
    expectedOf(dir, content),
    never,
  );
  expect(openBelow(dir)).toEqual([]);
  expect(file.sizeBytes).toBe(size);
  expect("bytes" in file && file.bytes.equals(content)).toBe(true);
  await close();
});

const SLICED = [SLICED_BYTES_MIN, 300_001, 512 * 1024 + 1, IN_MEMORY_BYTES_MAX];

test.for(SLICED)("%i bytes are proven, and given in slices", async (size) => {
  const dir = scratch();
  const content = randomBytes(size);
  put(dir, "scan.bin", content);
  const { file } = await openSnapshot(settingsOf(dir), path, expectedOf(dir, content), never);
  expect(openBelow(dir)).toEqual([]);
  // From here on it may be written to: what is sent was read.
  put(dir, "scan.bin", "other");
  const slices: Buffer[] = [];
  for await (const slice of chunksOf(file)) slices.push(Buffer.from(slice));
  expect(Buffer.concat(slices).equals(content)).toBe(true);
  // Smaller ones need not have left when the next one is asked for.
  expect(Math.min(...slices.map(({ length }) => length))).toBeGreaterThanOrEqual(64 * 1024);
});

test("memory is used again once all of its slices were handed over, and not before", async () => {
  const dir = scratch();
  const memoryOf = async (end: "whole" | "early" | "never") => {
    const content = randomBytes(SLICED_BYTES_MIN * 3);
    put(dir, "scan.bin", content);
    const { file } = await openSnapshot(settingsOf(dir), path, expectedOf(dir, content), never);
    const slices = chunksOf(file)[Symbol.asyncIterator]();
    const first = (await slices.next()).value as Buffer;
    if (end === "whole") while (!(await slices.next()).done);
    if (end === "early") await slices.return?.();
    return first.buffer;
  };
  const whole = await memoryOf("whole");
  const early = await memoryOf("early");
  expect(early).toBe(whole);
  const unfinished = await memoryOf("never");
  expect(unfinished).not.toBe(early);
  expect(await memoryOf("whole")).not.toBe(unfinished);
});

test.for([IN_MEMORY_BYTES_MAX + 1, LARGE, 10 * CHUNK])("%i bytes are streamed", async (size) => {
  const dir = scratch();
  const content = randomBytes(size);
  put(dir, "scan.bin", content);
  const { file } = await openSnapshot(settingsOf(dir), path, expectedOf(dir, content), never);
  const chunks: Buffer[] = [];
  const memory = new Set<ArrayBufferLike>();
  for await (const chunk of chunksOf(file)) {
    // What is read ahead meanwhile must not be written over what is being sent.
    await setTimeout(2);
    chunks.push(Buffer.from(chunk));
    memory.add(chunk.buffer);
  }
  expect(Buffer.concat(chunks).equals(content)).toBe(true);
  expect(Math.max(...chunks.map((chunk) => chunk.length))).toBe(CHUNK);
  // The one that is being sent, and two that are read ahead.
  expect(memory.size).toBe(3);
  expect(openBelow(dir)).toEqual([]);
});

test("a file that was written to since is refused at once", async () => {
  const dir = scratch();
  const content = Buffer.from("content");
  const full = put(dir, "scan.bin", content);
  const expected = expectedOf(dir, content);
  appendFileSync(full, "!");
  await expect(openSnapshot(settingsOf(dir), path, expected, never)).rejects.toThrow(FileChanged);
});

test("a file that another host saw as its own is sent from where it is a share's", async () => {
  const dir = scratch();
  const content = randomBytes(7_000);
  put(dir, "scan.bin", content);
  const here = settingsOf(dir);
  const expected = expectedOf(dir, content);
  const { file, close } = await openSnapshot({ ...here, network: true }, path, expected, never);
  expect("bytes" in file && file.bytes.equals(content)).toBe(true);
  await close();
  appendFileSync(`${dir}/scan.bin`, "x");
  const opened = openSnapshot({ ...here, network: true }, path, expected, never);
  await expect(opened).rejects.toThrow(FileChanged);
});

test("content that is not what was hashed is refused, be the stamp as it was", async () => {
  const dir = scratch();
  put(dir, "scan.bin", "content");
  const expected = expectedOf(dir, Buffer.from("another"));
  await expect(openSnapshot(settingsOf(dir), path, expected, never)).rejects.toMatchObject({
    code: "FILE_CHANGED",
  });
});

test.for([SLICED_BYTES_MIN - 1, SLICED_BYTES_MIN, IN_MEMORY_BYTES_MAX, LARGE, (8 << 20) + 1])(
  "%i bytes that this process hashed are told from any other content, a bit apart",
  async (size) => {
    const dir = scratch();
    const content = randomBytes(size);
    const full = put(dir, "scan.bin", content);
    const settings = settingsOf(dir);
    const found = await inspect(settings, path, undefined, { pages: false }, never);
    const expected = expectedOf(dir, content);
    expect(found).toMatchObject({ kind: "whole", digest: expected.digest });
    const isSent = async () => {
      const digest = createHash("sha256");
      const { seen } = expectedOf(dir, content);
      const { file } = await openSnapshot(settings, path, { ...expected, seen }, never);
      if ("bytes" in file) digest.update(file.bytes);
      else for await (const chunk of file.chunks()) digest.update(chunk);
      return digest.digest("hex") === expected.digest;
    };
    expect(await isSent()).toBe(true);
    for (const at of [0, size >> 1, size - 1]) {
      const fd = openSync(full, "r+");
      writeSync(fd, Buffer.from([(content[at] ?? 0) ^ 1]), 0, 1, at);
      await expect(isSent()).rejects.toThrow("has other content than was found");
      writeSync(fd, content, at, 1, at);
      closeSync(fd);
    }
    // Others were found since, so many that SHA-256 proves this one.
    for (let other = 0; other < 5_000; other += 1) new ContentTag().remember(`${other}`);
    expect(await isSent()).toBe(true);
  },
);

test.for([
  [
    "rewritten in its last byte",
    (file: string) => {
      const fd = openSync(file, "r+");
      writeSync(fd, "!", LARGE - 1);
      closeSync(fd);
    },
  ],
  ["cut", (file: string) => truncateSync(file, LARGE - CHUNK)],
  ["longer", (file: string) => appendFileSync(file, "!")],
] as const)("a large file that is %s while it is sent never ends whole", async ([, meddle]) => {
  const dir = scratch();
  const content = randomBytes(LARGE);
  const full = put(dir, "scan.bin", content);
  const { file } = await openSnapshot(settingsOf(dir), path, expectedOf(dir, content), never);
  let sent = 0;
  const sending = (async () => {
    for await (const chunk of chunksOf(file)) {
      if (sent === 0) meddle(full);
      sent += chunk.length;
    }
  })();
  await expect(sending).rejects.toThrow(FileChanged);
  expect(sent).toBeGreaterThan(0);
  expect(sent).toBeLessThan(LARGE);
  expect(openBelow(dir)).toEqual([]);
});

test("a digest that is wrong holds back the last chunk", async () => {
  const dir = scratch();
  put(dir, "scan.bin", randomBytes(LARGE));
  const expected = expectedOf(dir, Buffer.from("another"));
  const { file } = await openSnapshot(settingsOf(dir), path, expected, never);
  let sent = 0;
  await expect(async () => {
    for await (const chunk of chunksOf(file)) sent += chunk.length;
  }).rejects.toThrow(FileChanged);
  expect(LARGE - sent).toBe(LARGE % CHUNK);
});

test("anyone who stops in the middle leaves nothing open", async () => {
  const dir = scratch();
  const content = randomBytes(LARGE);
  put(dir, "scan.bin", content);
  const first = await openSnapshot(settingsOf(dir), path, expectedOf(dir, content), never);
  for await (const _ of chunksOf(first.file)) break;
  expect(openBelow(dir)).toEqual([]);
  await first.close();
  const second = await openSnapshot(settingsOf(dir), path, expectedOf(dir, content), never);
  await Promise.all([second.close(), second.close()]);
  expect(openBelow(dir)).toEqual([]);
});

test("an abort ends the stream with its reason", async () => {
  const dir = scratch();
  const content = randomBytes(LARGE);
  put(dir, "scan.bin", content);
  const stop = new AbortController();
  const { file } = await openSnapshot(settingsOf(dir), path, expectedOf(dir, content), stop.signal);
  await expect(async () => {
    for await (const _ of chunksOf(file)) stop.abort(new Error("stopping"));
  }).rejects.toThrow("stopping");
});

test("a file that is gone says so, but not behind an unmounted source", async () => {
  const dir = scratch();
  put(dir, "mount/scan.bin", "content");
  const source = `${dir}/mount`;
  const expected = expectedOf(source, Buffer.from("content"));
  const status = sourceStatus(settingsOf(source));
  rmSync(`${source}/scan.bin`);
  await expect(openSnapshot(settingsOf(source), path, expected, never)).rejects.toThrow(FileGone);
  renameSync(source, `${dir}/elsewhere`);
  mkdirSync(source);
  const device = status.kind === "online" ? status.device : null;
  const settings = settingsOf(source, { device });
  await expect(openSnapshot(settings, path, expected, never)).rejects.toMatchObject({
    code: "SOURCE_OFFLINE",
  });
});
