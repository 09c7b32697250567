import { expect, test } from "vitest";
import type { UploadFile } from "../../../src/archive/archive.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { until } from "../../fixtures/until.ts";
import { fileOf, errorOf, never, openOn, scan } from "./fixture.ts";
import { type Heard, RawServer, reply, stored } from "./raw-server.ts";

const CHUNK = Buffer.alloc(100_000, "x");
const torn = new Error("the file was written while it was read");

const TIMEOUT_MS = 30_000;
/** Of all that is sent here: none has waited for anything. */
const clock = new ManualClock();

async function send(file: UploadFile): Promise<{ error: unknown; heard: Heard[] }> {
  await using server = await RawServer.open({ onWhole: (socket) => void socket.write(stored()) });
  await using archive = await openOn(server, { timeoutMs: TIMEOUT_MS }, clock);
  const error = await archive.upload(scan(file), never).then(
    () => "it was sent",
    (error: unknown) => error,
  );
  await Promise.all(server.heard.map((heard) => heard.over));
  return { error, heard: server.heard };
}

function streamed(sizeBytes: number, chunks: () => AsyncGenerator<Buffer>): UploadFile {
  return { sizeBytes, chunks };
}

const changed = { kind: "notSent", code: "FILE_CHANGED" };

test.for([
  [
    streamed(300_000, async function* () {
      yield CHUNK;
      throw torn;
    }),
    torn,
    "the file throws on its way",
  ],
  [
    streamed(200_000, async function* () {
      yield* [CHUNK, CHUNK];
      throw torn;
    }),
    torn,
    "the file throws after its last byte, as when its digest is wrong",
  ],
  [
    streamed(200_000, () => {
      throw torn;
    }),
    torn,
    "the file cannot be opened",
  ],
  [
    streamed(200_000, async function* () {
      yield CHUNK;
    }),
    changed,
    "the file has become shorter",
  ],
  [
    streamed(200_000, async function* () {
      yield* [CHUNK, CHUNK, Buffer.from("x")];
    }),
    changed,
    "the file has become longer",
  ],
  [
    streamed(200_000, async function* () {
      yield CHUNK;
      await clock.advance(TIMEOUT_MS);
    }),
    { kind: "notSent", code: "FILE_STALLED" },
    "the file's share hangs",
  ],
] as [UploadFile, unknown, string][])(
  "%# the request is torn down before its end and says why, when %s",
  async ([file, expected]) => {
    const { error, heard } = await send(file);
    if (expected === torn) expect(error).toBe(torn);
    else expect(error).toMatchObject(expected as object);
    for (const request of heard) {
      expect(request.received).toBeLessThan(request.length);
      const boundary = /boundary=(\S+)/.exec(request.headers.get("content-type") ?? "")?.[1];
      expect(request.body.includes(`--${boundary}--`)).toBe(false);
    }
  },
);

test("bytes of another length than was said are not sent at all", async () => {
  const { error, heard } = await send({ sizeBytes: 5, bytes: Buffer.from("four") });
  expect(error).toMatchObject(changed);
  expect(heard).toEqual([]);
});

test("the file is let go of when the archive refuses early", async () => {
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>();
  const file = streamed(1_000_000_000, async function* () {
    try {
      for (;;) yield CHUNK;
    } finally {
      onClosed();
    }
  });
  await using server = await RawServer.open({
    onHead: (socket) => {
      socket.pause();
      socket.write(reply(403, ""));
    },
  });
  await using archive = await openOn(server);
  const error = await errorOf(archive.upload(scan(file), never));
  expect(error).toMatchObject({ kind: "refused", code: "CREDENTIALS_REFUSED", credentials: true });
  await closed;
});

test("a file that was torn does not harm what is sent after it", async () => {
  await using server = await RawServer.open({ onWhole: (socket) => void socket.write(stored()) });
  await using archive = await openOn(server, { connections: 1 });
  const file = streamed(200_000, async function* () {
    yield CHUNK;
    throw torn;
  });
  await expect(archive.upload(scan(file), never)).rejects.toBe(torn);
  expect(await archive.upload(scan(fileOf(CHUNK)), never)).toMatchObject({ id: 41 });
});

test("no more of a file is read than the line takes, so memory stays constant", async () => {
  let pulled = 0;
  const file = streamed(10_000_000_000, async function* () {
    for (;;) {
      pulled += CHUNK.length;
      yield CHUNK;
    }
  });
  await using server = await RawServer.open({ onHead: (socket) => void socket.pause() });
  await using archive = await openOn(server, { timeoutMs: TIMEOUT_MS }, clock);
  const error = errorOf(archive.upload(scan(file), never));
  await until("the head", () => server.heard[0]);
  let before = 0;
  await until("the line to take no more", () => before === (before = pulled));
  await clock.advance(TIMEOUT_MS);
  expect(await error).toMatchObject({ kind: "inDoubt", code: "ARCHIVE_TIMEOUT" });
  // What the kernel buffers on both sides of a loopback connection.
  expect(pulled).toBeLessThan(20_000_000);
});
