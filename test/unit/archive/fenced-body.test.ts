/** Requests that must have their end by a moment, or get none. */
import { describe, expect, test } from "vitest";
import type { Fence, UploadFile } from "../../../src/archive/archive.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { until } from "../../fixtures/until.ts";
import { errorOf, fileOf, never, openOn, scan } from "./fixture.ts";
import { RawServer, stored } from "./raw-server.ts";

const BYTES = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => at % 251));

const OPEN: Fence = { leftMs: 60_000 };

/** Over after it was looked at so often. */
function overAfter(looks: number): Fence & { readonly looks: () => number } {
  let looked = 0;
  return {
    looks: () => looked,
    get leftMs() {
      looked += 1;
      return looked > looks ? 0 : 60_000;
    },
  };
}

function streamed(bytes: Buffer): UploadFile {
  return {
    sizeBytes: bytes.length,
    async *chunks() {
      const buffer = Buffer.alloc(100_000);
      for (let at = 0; at < bytes.length; at += buffer.length) {
        bytes.copy(buffer, 0, at);
        yield buffer.subarray(0, Math.min(buffer.length, bytes.length - at));
      }
    },
  };
}

const KINDS = [
  ["empty", () => fileOf(Buffer.alloc(0))],
  ["of one byte", () => fileOf(BYTES.subarray(0, 1))],
  ["of 1000 bytes", () => fileOf(BYTES.subarray(0, 1_000))],
  ["in one piece", () => fileOf(BYTES.subarray(0, 400_000))],
  ["in slices", () => fileOf(BYTES)],
  ["streamed through a buffer that is used again", () => streamed(BYTES)],
] as const;

describe.for(KINDS)("a file %s", ([, file]) => {
  test("arrives as it is", async () => {
    await using server = await RawServer.open({ onWhole: (socket) => void socket.write(stored()) });
    await using archive = await openOn(server, { stepwise: true, connections: 1 });
    const sent = file();
    await archive.upload(scan(sent, { fence: OPEN }), never);
    await archive.upload(scan(file(), { fence: OPEN }), never);
    const [first, second] = server.heard;
    const bytes = BYTES.subarray(0, sent.sizeBytes);
    expect(first?.body.includes(bytes)).toBe(true);
    expect(first?.length).toBe(second?.length);
    expect(server.sockets, "the connection is kept").toHaveLength(1);
  });

  test("gets no end, whichever look says that the time is over", async () => {
    await using server = await RawServer.open({ onWhole: (socket) => void socket.write(stored()) });
    await using archive = await openOn(server, { stepwise: true });
    const all = overAfter(1_000);
    await archive.upload(scan(file(), { fence: all }), never);
    for (let looks = 0; looks < all.looks(); looks++) {
      const fence = overAfter(looks);
      const error = await errorOf(archive.upload(scan(file(), { fence }), never));
      expect(error).toMatchObject({ kind: "notSent", code: "LEASE_OVER" });
    }
    expect(server.heard.filter(({ whole }) => whole)).toHaveLength(1);
  });
});

test("the time ends while the archive takes nothing: the request is given up without an end", async () => {
  await using server = await RawServer.open({ onHead: (socket) => void socket.pause() });
  const clock = new ManualClock();
  await using archive = await openOn(server, { stepwise: true }, clock);
  const fence = {
    get leftMs() {
      return 300 - clock.monotonic();
    },
  };
  const bytes = Buffer.alloc(30_000_000);
  const error = errorOf(archive.upload(scan(fileOf(bytes), { fence }), never));
  await until("the head", () => server.heard[0]);
  await clock.advance(300);
  expect(await error).toMatchObject({ kind: "notSent", code: "LEASE_OVER" });
  for (const socket of server.sockets) socket.resume();
  await server.only.over;
  expect(server.only.whole).toBe(false);
});

test("what has its end waits for its answer, also beyond the time", async () => {
  const whole = Promise.withResolvers<void>();
  await using server = await RawServer.open({ onWhole: () => whole.resolve() });
  const clock = new ManualClock();
  await using archive = await openOn(server, { stepwise: true }, clock);
  const time = { leftMs: 200 };
  const uploading = archive.upload(scan(undefined, { fence: time }), never);
  await whole.promise;
  time.leftMs = 0;
  await clock.advance(200);
  server.sockets[0]?.write(stored());
  await expect(uploading).resolves.toMatchObject({ id: 41 });
});

test("time that is put off meanwhile goes on", async () => {
  await using server = await RawServer.open({ onWhole: (socket) => void socket.write(stored()) });
  const clock = new ManualClock();
  await using archive = await openOn(server, { stepwise: true }, clock);
  const allowed: (() => void)[] = [];
  const take = () => new Promise<void>((resolve) => void allowed.push(resolve));
  let endsAt = 200;
  const fence = {
    get leftMs() {
      return endsAt - clock.monotonic();
    },
  };
  const allowance = { pieceBytes: 1_000_000, take };
  const uploading = archive.upload(scan(fileOf(Buffer.alloc(10)), { fence, allowance }), never);
  await until("a piece to wait", () => allowed[0]);
  endsAt += 60_000;
  await clock.advance(300);
  allowed[0]?.();
  await expect(uploading).resolves.toMatchObject({ id: 41 });
});
