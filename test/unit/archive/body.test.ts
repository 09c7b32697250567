import { expect, test, describe } from "vitest";
import { ArchiveError } from "../../../src/archive/archive-error.ts";
import { type HttpArchive } from "../../../src/archive/http-archive.ts";
import { createServer, type Socket } from "node:net";
import { once } from "node:events";
import { fileOf, never, openOn, scan, errorOf } from "./fixture.ts";
import { RawServer, type Script, stored, type Heard, reply } from "./raw-server.ts";
import { type Fence, type UploadFile, type Allowance } from "../../../src/archive/archive.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { until } from "../../fixtures/until.ts";

/** Connections that break at every single byte of a small upload, and of its reply. */
describe("every byte", () => {
  const small = () => scan(fileOf(Buffer.from("%PDF-1.7 a scan")));
  type Break = (socket: Socket) => void;
  const reset: Break = (socket) => {
    socket.resetAndDestroy();
  };
  const close: Break = (socket) => {
    socket.destroy();
  };
  const end: Break = (socket) => {
    socket.end();
  };

  /** Requests that are under way at a time. */
  const AT_ONCE = 16;

  /** What each of many uploads came to: the kind of its error, or `result`. */
  async function endings(archive: HttpArchive, count: number): Promise<string[]> {
    const ended: string[] = [];
    for (let n = 0; n < count; n += AT_ONCE) {
      const some = Array.from({ length: Math.min(AT_ONCE, count - n) }, () =>
        archive.upload(small(), never).then(
          () => "result",
          (error: unknown) => (error instanceof ArchiveError ? error.kind : String(error)),
        ),
      );
      ended.push(...(await Promise.all(some)));
    }
    return ended;
  }

  async function requestBytes(): Promise<number> {
    await using server = await RawServer.open({ onWhole: (socket) => void socket.write(stored()) });
    await using archive = await openOn(server);
    await archive.upload(small(), never);
    return server.only.head.length + 4 + server.only.length;
  }

  /** Takes so many bytes of each connection, the first none, the next one more, and breaks it. */
  async function breakingServer(destroy: Break) {
    let connections = 0;
    const server = createServer((socket) => {
      const wanted = connections++;
      socket.on("error", () => {});
      const take = () => {
        if (wanted > 0 && socket.read(wanted) === null) return;
        destroy(socket);
      };
      socket.on("readable", take);
      if (wanted === 0) take();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return { url: `http://127.0.0.1:${address.port}`, server };
  }

  test.for([
    [reset, "reset"],
    [close, "closed"],
  ] as const)(
    "a request whose connection is $1 after any number of bytes is never a result",
    async ([destroy]) => {
      const bytes = await requestBytes();
      const { url, server } = await breakingServer(destroy);
      await using archive = await openOn({ url }, { connections: AT_ONCE });
      const ended = await endings(archive, bytes + 1);
      expect(bytes).toBeGreaterThan(800);
      expect(ended).toHaveLength(bytes + 1);
      // Broken before its first byte, it may be known that none was sent; from there on nothing is.
      const others = ended.filter((kind) => kind !== "inDoubt");
      expect([[], ["notSent"]]).toContainEqual(others);
      server.close();
    },
  );

  const REPLY = stored();

  test.for([
    [end, true, "closed, and whole it is a result"],
    [reset, false, "reset, which may throw away what was sent"],
  ] as const)(
    "a reply that breaks off after any number of bytes is in doubt: $2",
    async ([over, isSafe]) => {
      let replies = 0;
      const script: Script = {
        onWhole: (socket) => {
          socket.write(REPLY.subarray(0, replies++));
          over(socket);
        },
      };
      await using server = await RawServer.open(script);
      await using archive = await openOn(server, { connections: 1 });
      const ended: string[] = [];
      for (let upTo = 0; upTo <= REPLY.length; upTo++) ended.push(...(await endings(archive, 1)));
      expect(new Set(ended.slice(0, -1))).toEqual(new Set(["inDoubt"]));
      expect(isSafe ? ["result"] : ["result", "inDoubt"]).toContain(ended.at(-1));
      expect(server.heard).toHaveLength(REPLY.length + 1);
    },
  );
});

/** Requests that must have their end by a moment, or get none. */
describe("fenced body", () => {
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
      await using server = await RawServer.open({
        onWhole: (socket) => void socket.write(stored()),
      });
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
      await using server = await RawServer.open({
        onWhole: (socket) => void socket.write(stored()),
      });
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
});

/** Requests that are held back to a rate: whole, patient, and torn down at once. */
describe("paced body", () => {
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
      await using server = await RawServer.open({
        onWhole: (socket) => void socket.write(stored()),
      });
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
      await using server = await RawServer.open({
        onWhole: (socket) => void socket.write(stored()),
      });
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
});

describe("torn file", () => {
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
    expect(error).toMatchObject({ kind: "refused", code: "HTTP_403", credentials: true });
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
});
