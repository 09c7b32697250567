/**
 * A reader process that is stopped, as by SIGSTOP or while its host is out of breath, and goes on
 * when its daemon may not send any more: another one has taken over by then, and what it sent now
 * would be sent twice.
 */
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Outcome } from "../../../src/domain/outcome.ts";
import { type HostClock, hostClock, systemClock } from "../../../src/std/clock.ts";
import { until } from "../../fixtures/until.ts";
import { settingsFor } from "../../unit/archive/fixture.ts";
import { type Heard, RawServer, stored } from "../../unit/archive/raw-server.ts";
import { never, put } from "../../unit/source/scratch.ts";
import { MIRROR, openReader, orderFor } from "./a-reader.ts";

/** Longer than a busy machine keeps anybody waiting. */
const LEASE_MS = 60_000;
/** How long before its end it is renewed for the last time. */
const LAST_MS = 600;

/** A lease that is renewed all the time, until it is left to end. */
class Lease {
  /** How often the process is told follows from it. */
  readonly leaseMs = LAST_MS;
  readonly #told = Promise.withResolvers<void>();
  #endsAt: number | undefined;

  /** Asked whenever the process is told. */
  get sendLeftMs(): number {
    if (this.#endsAt === undefined) return LEASE_MS;
    this.#told.resolve();
    return this.#endsAt - systemClock.monotonic();
  }

  /** It is renewed no more; resolves once the process is being told when it ends. */
  lapse(): Promise<void> {
    this.#endsAt = systemClock.monotonic() + LAST_MS;
    return this.#told.promise;
  }

  /** Resolves when it is long over. */
  async over(): Promise<void> {
    await delay(Math.max(0, this.sendLeftMs) + 300);
  }
}

/** The host's clocks, of which the one on the wall was set back since by an hour, as a reader sees it. */
const setBack: HostClock = { ...hostClock, wall: () => hostClock.wall() + 3_600_000 };

type Opened = Awaited<ReturnType<typeof aReader>>;

async function aReader(server: RawServer, host?: HostClock) {
  const asked: (() => void)[] = [];
  const lease = new Lease();
  const open = openReader({
    archive: () => settingsFor(server.url, { stepwise: true, timeoutMs: 60_000 }),
    cluster: lease,
    ...(host && { host }),
    daemon: {
      listing: async () => true,
      hint: async () => {},
      vanished: async () => {},
      allowance: () => new Promise<void>((resolve) => void asked.push(resolve)),
      sent: async () => {},
      doubt: async () => {},
      status: async () => {},
    },
  });
  const pid = await until("a reader", () => open.reader.pid);
  return { ...open, pid, asked, lease };
}

/** Begins to send a file in pieces that are asked for one by one; resolves when the first is. */
async function sending(reader: Opened, bytes: Buffer, pieceBytes: number | null) {
  put(reader.source, "scan.bin", bytes.toString("latin1"));
  const order = { ...(await orderFor(reader.reader, "scan.bin")), pieceBytes };
  return { outcome: reader.reader.send(order, never) };
}

/** The process knows when its lease ends. */
async function lapse({ reader, lease }: Opened): Promise<void> {
  await lease.lapse();
  // What it was told before this answer it has heard.
  await reader.look(MIRROR, []);
}

/** Stops the process until its lease is long over; `meanwhile` happens before it goes on. */
async function stopped(reader: Opened, meanwhile: () => unknown): Promise<void> {
  await lapse(reader);
  process.kill(reader.pid, "SIGSTOP");
  await reader.lease.over();
  await meanwhile();
  process.kill(reader.pid, "SIGCONT");
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
      await stopped(open, grant);
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
    await stopped(open, () => server.sockets[0]?.resume());
    expect(await outcome).toMatchObject(NOT_SENT);
    await heard.over;
    expect(heard.whole).toBe(false);
  });

  test("before it was told to send anything", async () => {
    await using server = await RawServer.open({ onWhole: (socket) => void socket.write(stored()) });
    const open = await aReader(server, host);
    put(open.source, "scan.bin", "content");
    const order = await orderFor(open.reader, "scan.bin");
    await lapse(open);
    process.kill(open.pid, "SIGSTOP");
    const outcome = open.reader.send(order, never);
    await open.lease.over();
    process.kill(open.pid, "SIGCONT");
    expect(await outcome).toEqual({ kind: "released" });
    expect(server.heard).toEqual([]);
  });
});

test("wherever it is stopped, no request becomes whole after it goes on", async () => {
  const ends: string[] = [];
  for (let round = 0; round < 5; round++) {
    await using server = await RawServer.open({
      onHead: (socket) => void socket.pause(),
      onWhole: (socket) => void socket.write(stored()),
    });
    const open = await aReader(server);
    const { outcome } = await sending(open, Buffer.alloc(24_000_000, "x"), null);
    const heard = await until("the head", () => server.heard[0]);
    await sip(server, heard, round * 5_000_000);
    await lapse(open);
    process.kill(open.pid, "SIGSTOP");
    // What the kernel has by now was handed over in time: all of it comes.
    await quiet(server, heard);
    const wasWhole = heard.whole;
    await open.lease.over();
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
});

/** Reads a little at a time, until there are so many bytes or no more to come. */
async function sip({ sockets: [socket] }: RawServer, heard: Heard, bytes: number): Promise<void> {
  for (;;) {
    if (heard.received >= bytes || !socket || socket.destroyed) return;
    socket.resume();
    await delay(1);
    socket.pause();
    await delay(10);
  }
}

/** Resolves once nothing more comes. */
async function quiet(server: RawServer, heard: Heard): Promise<void> {
  for (let received = -1; received !== heard.received; ) {
    received = heard.received;
    for (const socket of server.sockets) socket.resume();
    await delay(100);
    // A timer that rings late does so before what came meanwhile is read.
    for (let turn = 0; turn < 10; turn++) await nextTurn();
  }
}
