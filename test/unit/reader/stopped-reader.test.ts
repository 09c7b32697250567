/**
 * A reader process that is stopped, as by SIGSTOP or while its host is out of breath, and goes on
 * when its daemon may not send any more: another one has taken over by then, and what it sent now
 * would be sent twice.
 */
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Outcome } from "../../../src/domain/outcome.ts";
import { systemClock } from "../../../src/std/clock.ts";
import { type HostClock, hostClock } from "../../../src/std/time-left.ts";
import { until } from "../../fixtures/until.ts";
import { settingsFor } from "../archive/fixture.ts";
import { type Heard, RawServer, stored } from "../archive/raw-server.ts";
import { never, put } from "../source/scratch.ts";
import { openReader, orderFor } from "./a-reader.ts";

const LEASE_MS = 1_200;

/** A lease that was renewed last when it was opened. */
function lease() {
  const endsAt = systemClock.monotonic() + LEASE_MS;
  return {
    leaseMs: LEASE_MS,
    get sendLeftMs() {
      return endsAt - systemClock.monotonic();
    },
  };
}

/** The host's clocks, of which the one on the wall was set back since by an hour, as a reader sees it. */
const setBack: HostClock = { ...hostClock, wall: () => hostClock.wall() + 3_600_000 };

type Opened = Awaited<ReturnType<typeof aReader>>;

async function aReader(server: RawServer, host?: HostClock) {
  const asked: (() => void)[] = [];
  const crew = { leaseMs: LEASE_MS, sendLeftMs: Number.NEGATIVE_INFINITY };
  const open = openReader({
    archive: () => settingsFor(server.url, { stepwise: true }),
    crew: {
      leaseMs: LEASE_MS,
      get sendLeftMs() {
        return crew.sendLeftMs;
      },
    },
    ...(host && { host }),
    daemon: {
      listing: async () => true,
      hint: async () => {},
      allowance: () => new Promise<void>((resolve) => void asked.push(resolve)),
      doubt: async () => {},
      status: async () => {},
    },
  });
  const pid = await until("a reader", () => open.reader.pid);
  const renew = () => {
    const own = lease();
    Object.defineProperty(crew, "sendLeftMs", { get: () => own.sendLeftMs, configurable: true });
  };
  return { ...open, pid, asked, renew };
}

/** Begins to send a file in pieces that are asked for one by one; resolves when the first is. */
async function sending(reader: Opened, bytes: Buffer, pieceBytes: number | null) {
  put(reader.source, "scan.bin", bytes.toString("latin1"));
  const order = { ...(await orderFor(reader.reader, "scan.bin")), pieceBytes };
  reader.renew();
  return { outcome: reader.reader.send(order, never) };
}

/** Stops the process until its lease is long over; `meanwhile` happens before it goes on. */
async function stopped(pid: number, meanwhile: () => unknown): Promise<void> {
  process.kill(pid, "SIGSTOP");
  await delay(LEASE_MS + 300);
  await meanwhile();
  process.kill(pid, "SIGCONT");
}

const NOT_SENT: Partial<Outcome> = { kind: "notSent" };

describe.for([
  ["", undefined],
  [", its wall clock set back", setBack],
] as const)("stopped beyond its lease%s", ([, host]) => {
  test.for([
    [100_000, 0, "all of it"],
    [1_000, 1, "its last piece"],
  ] as const)(
    "while of a small request pieces of %i wait for leave: %s",
    async ([most, before]) => {
      await using server = await RawServer.open({
        onWhole: (socket) => void socket.write(stored()),
      });
      const open = await aReader(server, host);
      const { outcome } = await sending(open, Buffer.alloc(600, "x"), most);
      for (let piece = 0; piece < before; piece++) {
        (await until("a piece", () => open.asked[piece]))();
      }
      const grant = await until("the piece", () => open.asked[before]);
      // The leave lies in the pipe when the process goes on, and is read before any timer rings.
      await stopped(open.pid, grant);
      expect(await outcome).toMatchObject(NOT_SENT);
      await delay(100);
      expect(server.heard.filter(({ whole }) => whole)).toEqual([]);
    },
  );

  test("while the archive takes nothing of a large one, and all of it later", async () => {
    await using server = await RawServer.open({
      onHead: (socket) => void socket.pause(),
      onWhole: (socket) => void socket.write(stored()),
    });
    const open = await aReader(server, host);
    const { outcome } = await sending(open, Buffer.alloc(24_000_000, "x"), null);
    const heard = await until("the head", () => server.heard[0]);
    await delay(200);
    await stopped(open.pid, () => server.sockets[0]?.resume());
    expect(await outcome).toMatchObject(NOT_SENT);
    await heard.over;
    expect(heard.whole).toBe(false);
  });

  test("before it was told to send anything", async () => {
    await using server = await RawServer.open({ onWhole: (socket) => void socket.write(stored()) });
    const open = await aReader(server, host);
    put(open.source, "scan.bin", "content");
    const order = await orderFor(open.reader, "scan.bin");
    open.renew();
    process.kill(open.pid, "SIGSTOP");
    const outcome = open.reader.send(order, never);
    await delay(LEASE_MS + 200);
    process.kill(open.pid, "SIGCONT");
    expect(await outcome).toEqual({ kind: "notBegun" });
    expect(server.heard).toEqual([]);
  });
});

test("wherever it is stopped, no request becomes whole after it goes on", async () => {
  const ends: string[] = [];
  for (let round = 0; round < 5; round++) {
    const slow = { stop: false };
    await using server = await RawServer.open({
      onHead: (socket) => void sip(socket, slow),
      onWhole: (socket) => void socket.write(stored()),
    });
    const open = await aReader(server);
    const { outcome } = await sending(open, Buffer.alloc(9_000_000, "x"), null);
    const heard = await until("the head", () => server.heard[0]);
    await delay(20 + round * 60);
    process.kill(open.pid, "SIGSTOP");
    // What the kernel has by now was handed over in time: all of it comes.
    slow.stop = true;
    await quiet(server, heard);
    const wasWhole = heard.whole;
    await delay(LEASE_MS);
    process.kill(open.pid, "SIGCONT");
    const { kind } = await outcome;
    ends.push(`${wasWhole ? "whole" : "torn"}: ${kind}`);
    await delay(50);
    expect(heard.whole, `round ${round}`).toBe(wasWhole);
    await open.reader.close();
  }
  expect(new Set(ends)).toContain("torn: notSent");
  expect(
    ends.filter((end) => end === "whole: notSent"),
    "proven, and not so",
  ).toEqual([]);
}, 60_000);

/** Reads a little at a time, until it is to read all there is. */
async function sip(socket: { pause(): unknown; resume(): unknown }, slow: { stop: boolean }) {
  while (!slow.stop) {
    socket.pause();
    await delay(10);
    socket.resume();
    await delay(1);
  }
  socket.resume();
}

/** Resolves once nothing more comes. */
async function quiet(server: RawServer, heard: Heard): Promise<void> {
  for (let received = -1; received !== heard.received; ) {
    received = heard.received;
    for (const socket of server.sockets) socket.resume();
    await delay(100);
  }
}
