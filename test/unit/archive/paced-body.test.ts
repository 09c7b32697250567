/** Requests that are held back to a rate: whole, patient, and torn down at once. */
import { expect, test } from "vitest";
import type { Allowance, UploadFile } from "../../../src/archive/archive.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { until } from "../../fixtures/until.ts";
import { errorOf, fileOf, never, openOn, scan } from "./fixture.ts";
import { RawServer, stored } from "./raw-server.ts";

const BYTES = Buffer.from(Array.from({ length: 200_000 }, (_, at) => at % 251));

/** Allows everything, after a while; says what was asked for. */
function slow(clock: ManualClock, ms: number): Allowance & { readonly taken: number[] } {
  const taken: number[] = [];
  return {
    taken,
    pieceBytes: 50_000,
    async take(bytes) {
      taken.push(bytes);
      await clock.advance(ms);
    },
  };
}

/** Every chunk is overwritten as soon as the next one is asked for, as a reused buffer is. */
function reused(): UploadFile {
  return {
    sizeBytes: BYTES.length,
    async *chunks() {
      const buffer = Buffer.alloc(100_000);
      for (let at = 0; at < BYTES.length; at += buffer.length) {
        BYTES.copy(buffer, 0, at);
        yield buffer;
      }
    },
  };
}

test.for([
  [fileOf(BYTES), 50_000, "from memory"],
  [reused(), 50_000, "streamed, through a buffer that is used again"],
  [reused(), 7, "in tiny pieces"],
] as const)(
  "every byte arrives, and all are asked for: %#, pieces of %i, %s",
  async ([file, pieceBytes]) => {
    await using server = await RawServer.open({ onWhole: (socket) => void socket.write(stored()) });
    await using archive = await openOn(server);
    const taken: number[] = [];
    const allowance = { pieceBytes, take: async (bytes: number) => void taken.push(bytes) };
    await archive.upload(scan(file, { allowance }), never);
    expect(server.only.whole).toBe(true);
    expect(server.only.body.includes(BYTES)).toBe(true);
    expect(Math.max(...taken)).toBeLessThanOrEqual(pieceBytes);
    expect(taken.reduce((sum, each) => sum + each, 0)).toBe(server.only.length);
  },
);

test("the time a request is held back is no silence of the archive", async () => {
  await using server = await RawServer.open({ onWhole: (socket) => void socket.write(stored()) });
  const clock = new ManualClock();
  await using archive = await openOn(server, {}, clock);
  const allowance = slow(clock, 100_000);
  await archive.upload(scan(fileOf(BYTES), { allowance }), never);
  expect(allowance.taken.length).toBeGreaterThan(3);
});

test("an archive that falls silent is still given up", async () => {
  await using server = await RawServer.open({});
  const clock = new ManualClock();
  await using archive = await openOn(server, {}, clock);
  const allowance = slow(clock, 1);
  const error = errorOf(archive.upload(scan(fileOf(BYTES), { allowance }), never));
  await until("the whole request", () => server.heard[0]?.whole);
  await clock.advance(30_000);
  expect(await error).toMatchObject({ kind: "inDoubt", code: "ARCHIVE_TIMEOUT" });
});

test.for([
  [50_000, "in its middle"],
  [0, "before its very last piece"],
] as const)(
  "stopped while %i bytes are held back it ends at once, not sent: %s",
  async ([kept]) => {
    await using server = await RawServer.open({ onWhole: (socket) => void socket.write(stored()) });
    await using archive = await openOn(server);
    const stop = new AbortController();
    let taken = 0;
    const allowance: Allowance = {
      pieceBytes: 50_000,
      take: async (bytes) => {
        taken += bytes;
        // The head leaves with the first piece; only then does the server know the length.
        if (taken === bytes) return;
        const heard = await until("the head", () => server.heard[0]);
        if (taken < heard.length - kept) return;
        setImmediate(() => stop.abort(new Error("enough")));
        await new Promise(() => {});
      },
    };
    const error = await errorOf(archive.upload(scan(fileOf(BYTES), { allowance }), stop.signal));
    expect(error).toMatchObject({ kind: "notSent", code: "SEND_ABORTED" });
    await server.only.over;
    expect(server.only.received).toBeGreaterThan(0);
    expect(server.only.whole).toBe(false);
  },
);
