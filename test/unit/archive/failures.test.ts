import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { createServer as createTlsServer } from "node:tls";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { connectFailure } from "../../../src/archive/archive-error.ts";
import { InvariantError } from "../../../src/std/fault.ts";
import { systemClock } from "../../../src/std/clock.ts";
import { isAbortOf } from "../../../src/std/abort.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { until } from "../../fixtures/until.ts";
import { errorOf, fileOf, never, openOn, scan } from "./fixture.ts";
import { detail, RawServer, reply, type Script, stored } from "./raw-server.ts";

const TIMEOUT_MS = 30_000;

const BIG = Buffer.alloc(24 * 1024 * 1024, "x");

describe("the connection", () => {
  test.for([
    ["http://127.0.0.1:1", "ARCHIVE_UNREACHABLE", "nobody listens there"],
    ["http://nowhere.invalid", "ARCHIVE_UNREACHABLE", "the name does not exist"],
  ] as const)("%# %s: %s, because %s", async ([url, code]) => {
    await using archive = await openOn({ url });
    expect(await errorOf(archive.upload(scan(), never))).toMatchObject({ kind: "notSent", code });
  });

  test("a server that speaks no TLS is refused before anything is sent", async () => {
    const server = createHttpServer(() => {
      throw new Error("a request came");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await using archive = await openOn({ url: `https://127.0.0.1:${port}` });
    const error = await errorOf(archive.upload(scan(), never));
    expect(error).toMatchObject({ kind: "notSent", code: "ARCHIVE_UNREACHABLE" });
    expect(error.message).toBe(
      `127.0.0.1:${port} answers, but does not use TLS: write http:// instead of https://`,
    );
    server.close();
  });

  test("a TLS server without a fit certificate is refused before anything is sent", async () => {
    const server = createTlsServer({}).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await using archive = await openOn({ url: `https://127.0.0.1:${port}` });
    const error = await errorOf(archive.upload(scan(), never));
    expect(error).toMatchObject({ kind: "notSent", code: "TLS_REFUSED" });
    // What OpenSSL says of it, and not where in its sources.
    expect(error.message).toMatch(/^no TLS with 127\.0\.0\.1:\d+: [\w /,:]+$/);
    server.close();
  });

  test("a client that is closed says so, and a request that undici refuses is a bug", () => {
    const closed = Object.assign(new Error("x"), { code: "UND_ERR_DESTROYED" });
    expect(connectFailure(closed, "host")).toMatchObject({
      kind: "notSent",
      code: "ARCHIVE_CLOSED",
    });
    const refused = Object.assign(new Error("x"), { code: "UND_ERR_INVALID_ARG" });
    expect(connectFailure(refused, "host")).toBeInstanceOf(InvariantError);
  });
});

describe("what comes back over the wire", () => {
  test.for([
    [{ onWhole: (s) => void s.destroy() }, "inDoubt", "CONNECTION_LOST", "the reply is lost"],
    [
      { onWhole: (s) => void s.resetAndDestroy() },
      "inDoubt",
      "CONNECTION_LOST",
      "reset after the request",
    ],
    [
      { onHead: (s) => void s.resetAndDestroy() },
      "inDoubt",
      "CONNECTION_LOST",
      "reset while it was sent",
    ],
    [
      { onWhole: (s) => void s.end(stored().subarray(0, -20)) },
      "inDoubt",
      "CONNECTION_LOST",
      "half a reply",
    ],
    [
      { onWhole: (s) => void s.end("SSH-2.0-OpenSSH\r\n") },
      "inDoubt",
      "CONNECTION_LOST",
      "no HTTP at all",
    ],
    [
      { onWhole: (s) => void s.end("HTTP/1.1 200 X\r\nx: ".padEnd(100_000, "y")) },
      "inDoubt",
      "CONNECTION_LOST",
      "headers without end",
    ],
    [
      { onWhole: (s) => void s.write(reply(200, gzipSync("{}"), ["content-encoding: gzip"])) },
      "inDoubt",
      "REPLY_UNREADABLE",
      "compression was not asked for",
    ],
    [
      { onWhole: (s) => void s.write("HTTP/1.1 200 X\r\ncontent-length: 2000000\r\n\r\n") },
      "inDoubt",
      "REPLY_TOO_BIG",
      "it says that it will be",
    ],
    [
      { onWhole: (s) => void s.end(`HTTP/1.1 200 X\r\n\r\n${"x".repeat(1_100_000)}`) },
      "inDoubt",
      "REPLY_TOO_BIG",
      "it does not say, but is",
    ],
    [
      { onWhole: (s) => void s.end(`HTTP/1.1 413 X\r\n\r\n${"x".repeat(1_100_000)}`) },
      "refused",
      "HTTP_413",
      "the status is enough",
    ],
    [
      { onWhole: (s) => void s.write(reply(502, "<html>")) },
      "inDoubt",
      "HTTP_502",
      "a proxy lost the archive",
    ],
    [
      { onWhole: (s) => void s.write(stored({ filename: "other.pdf" })) },
      "inDoubt",
      "REPLY_MISMATCHED",
      "another document's reply",
    ],
    [
      { onWhole: (s) => void s.write(stored({ folderId: 8 })) },
      "inDoubt",
      "REPLY_MISMATCHED",
      "a document of this name went to another folder",
    ],
    [
      { onWhole: (s) => void s.write(stored({ filesize: 5 })) },
      "inDoubt",
      "REPLY_MISMATCHED",
      "another size was stored",
    ],
    [{ onWhole: () => {} }, "inDoubt", "ARCHIVE_TIMEOUT", "no reply comes"],
    [
      { onWhole: (s) => void s.write("HTTP/1.1 103 X\r\n\r\n".repeat(3)) },
      "inDoubt",
      "ARCHIVE_TIMEOUT",
      "a hint is no reply",
    ],
  ] as [Script, string, string, string][])(
    "%# is %s %s, because %s",
    async ([script, kind, code]) => {
      await using server = await RawServer.open(script);
      const clock = new ManualClock();
      await using archive = await openOn(server, { timeoutMs: TIMEOUT_MS }, clock);
      const error = errorOf(archive.upload(scan(), never));
      if (code === "ARCHIVE_TIMEOUT") {
        await until("the whole request", () => server.heard[0]?.whole);
        await clock.advance(TIMEOUT_MS);
      }
      expect(await error).toMatchObject({ kind, code });
      expect(server.heard).toHaveLength(1);
    },
  );

  test.for([
    ["other.pdf", '"other.pdf"', "as it is"],
    ["a\u001b[2J\u202eb\nc.pdf", '"a\\x1b[2J\\u202eb c.pdf"', "nothing steers a terminal"],
    ["x".repeat(100_000), `"${"x".repeat(255)}…"`, "no more than a name can have"],
  ] as const)("%# a name that is not ours is told next to ours: $2", async ([filename, shown]) => {
    await using server = await RawServer.open({
      onWhole: (socket) => void socket.write(stored({ filename })),
    });
    await using archive = await openOn(server);
    const { message } = (await errorOf(archive.upload(scan(), never))) as Error;
    expect(message).toBe(`document 41 is named ${shown}, "scan.pdf" was sent`);
  });

  test("a reply that trickles has the same time as any", async () => {
    let drips = 0;
    const drip: Script = {
      onWhole: async (socket) => {
        socket.write("HTTP/1.1 200 X\r\ncontent-length: 100000\r\n\r\n");
        for (; !socket.destroyed; drips++) {
          socket.write(" ");
          await delay(10);
        }
      },
    };
    await using server = await RawServer.open(drip);
    const clock = new ManualClock();
    await using archive = await openOn(server, { timeoutMs: TIMEOUT_MS }, clock);
    const error = errorOf(archive.upload(scan(), never));
    for (const enough of [10, 20]) {
      await until("some of it", () => drips > enough);
      await clock.advance(TIMEOUT_MS / 2);
    }
    expect(await error).toMatchObject({ kind: "inDoubt", code: "ARCHIVE_TIMEOUT" });
  });

  test.for([
    ["HTTP/1.1 103 X\r\nlink: x\r\ncontent-encoding: gzip\r\n\r\n", "a hint"],
    ["HTTP/1.1 100 Continue\r\n\r\n", "no one asked for it"],
    ["HTTP/1.1 100 Continue\r\nserver: x\r\n\r\nHTTP/1.1 100 X\r\n\r\n", "nor twice"],
  ] as const)("%j before the reply does no harm: %s", async ([text]) => {
    const early = Buffer.from(text);
    await using together = await RawServer.open({
      onWhole: (socket) => void socket.write(Buffer.concat([early, stored()])),
    });
    await using before = await RawServer.open({
      onHead: (socket) => void socket.write(early),
      onWhole: (socket) => void socket.write(stored()),
    });
    for (const server of [together, before]) {
      await using archive = await openOn(server);
      expect(await archive.upload(scan(), never)).toEqual(detail());
    }
  });

  test("a redirect is refused, and nothing is sent where it points", async () => {
    await using elsewhere = await RawServer.open({});
    await using server = await RawServer.open({
      onWhole: (socket) => void socket.write(reply(307, "", [`location: ${elsewhere.url}/`])),
    });
    await using archive = await openOn(server);
    expect(await errorOf(archive.upload(scan(), never))).toMatchObject({
      kind: "refused",
      code: "HTTP_307",
    });
    expect(elsewhere.sockets).toEqual([]);
  });

  test("a name in another Unicode form is the same name", async () => {
    const filename = "Ünï.pdf".normalize("NFC");
    await using server = await RawServer.open({
      onWhole: (socket) => void socket.write(stored({ filename: filename.normalize("NFD") })),
    });
    await using archive = await openOn(server);
    expect(await archive.upload(scan(undefined, { filename }), never)).toMatchObject({ id: 41 });
  });

  test("an answer about another document or folder is not an answer", async () => {
    const folder = { id: 3, name: "x", createdDate: 0, root: false };
    const answer = reply(200, JSON.stringify({ response: "OK", document: detail(), folder }));
    await using server = await RawServer.open({ onWhole: (socket) => void socket.write(answer) });
    await using archive = await openOn(server);
    expect(await archive.document(41, never)).toEqual(detail());
    expect(await errorOf(archive.document(42, never))).toMatchObject({ code: "REPLY_MISMATCHED" });
    expect(await errorOf(archive.folder(4, never))).toMatchObject({ code: "REPLY_MISMATCHED" });
  });

  test("lists may be long, and only as long as the page that was asked for", async () => {
    const documents = Array.from({ length: 20_000 }, (_, at) => detail({ id: at + 1 }));
    const answer = reply(200, JSON.stringify({ response: "OK", paginationPages: 1, documents }));
    expect(answer.length).toBeGreaterThan(3_000_000);
    await using server = await RawServer.open({ onWhole: (socket) => void socket.write(answer) });
    await using archive = await openOn(server);
    expect((await archive.documents({}, never)).documents).toHaveLength(20_000);
    const small = archive.documents({ paginationSize: 10 }, never);
    expect(await errorOf(small)).toMatchObject({ code: "REPLY_TOO_BIG" });
  });
});

describe("a reply before the end of the request", () => {
  test("an OK is in doubt: it cannot be about a file that was not there yet", async () => {
    await using server = await RawServer.open({
      onHead: (socket) => {
        socket.pause();
        socket.write(stored());
      },
    });
    await using archive = await openOn(server);
    const error = await errorOf(archive.upload(scan(fileOf(BIG)), never));
    expect(error).toMatchObject({ kind: "inDoubt", code: "REPLY_EARLY" });
  });

  test("a refusal counts", async () => {
    const answer = reply(
      413,
      JSON.stringify({ response: "ERROR", responseDescription: "FILE_SIZE_TOO_BIG" }),
    );
    await using server = await RawServer.open({
      onHead: (socket) => {
        socket.pause();
        socket.write(answer);
      },
    });
    await using archive = await openOn(server);
    const error = await errorOf(archive.upload(scan(fileOf(BIG)), never));
    expect(error).toMatchObject({ kind: "refused", code: "FILE_SIZE_TOO_BIG", httpStatus: 413 });
  });

  test("an OK right after the last byte is no early reply, however often", async () => {
    const bytes = BIG.subarray(0, 900_000);
    await using server = await RawServer.open({ onWhole: (socket) => void socket.write(stored()) });
    await using archive = await openOn(server);
    for (let i = 0; i < 20; i++) await archive.upload(scan(fileOf(bytes)), never);
    expect(server.heard).toHaveLength(20);
  });
});

describe("time", () => {
  test("an archive that takes nothing more is given up", async () => {
    await using server = await RawServer.open({ onHead: (socket) => void socket.pause() });
    const clock = new ManualClock();
    await using archive = await openOn(server, { timeoutMs: TIMEOUT_MS }, clock);
    const error = errorOf(archive.upload(scan(fileOf(BIG)), never));
    await until("the head", () => server.heard[0]);
    await clock.advance(TIMEOUT_MS);
    expect(await error).toMatchObject({ kind: "inDoubt", code: "ARCHIVE_TIMEOUT" });
  });

  test("an upload may take longer than the timeout as long as it moves", async () => {
    await using server = await RawServer.open({
      onHead: async (socket, heard) => {
        while (!heard.whole && !socket.destroyed) {
          socket.pause();
          await delay(20);
          socket.resume();
          await delay(5);
        }
      },
      onWhole: (socket) => void socket.write(stored()),
    });
    const clock = new ManualClock();
    await using archive = await openOn(server, { timeoutMs: TIMEOUT_MS }, clock);
    const chunks = async function* () {
      for (let i = 0; i < 8; i++) {
        await clock.advance(TIMEOUT_MS / 4);
        yield BIG.subarray(0, 100_000);
      }
    };
    await archive.upload(scan({ sizeBytes: 800_000, chunks }), never);
    expect(clock.monotonic()).toBe(2 * TIMEOUT_MS);
  });

  test("a request that waits in line for too long was not sent, and never is", async () => {
    await using server = await RawServer.open({ onWhole: (socket) => void socket.write(stored()) });
    const clock = new ManualClock();
    const settings = { timeoutMs: TIMEOUT_MS, connections: 1 };
    await using archive = await openOn(server, settings, clock);
    const chunks = async function* () {
      for (let i = 0; i < 8; i++) {
        yield BIG.subarray(0, 1_000);
        await clock.pass(TIMEOUT_MS / 4);
      }
    };
    const first = archive.upload(scan({ sizeBytes: 8_000, chunks }), never);
    await until("the first to be sent", () => server.heard[0]);
    const late = errorOf(archive.folder(undefined, never));
    await clock.advance(TIMEOUT_MS);
    expect(await late).toMatchObject({ kind: "notSent", code: "ARCHIVE_TIMEOUT" });
    const stop = new AbortController();
    const stopped = errorOf(archive.folder(undefined, stop.signal));
    await clock.settle();
    stop.abort(new Error("stop"));
    expect(await stopped).toMatchObject({ kind: "notSent", code: "SEND_ABORTED" });
    await clock.advance(TIMEOUT_MS);
    expect(await first).toMatchObject({ id: 41 });
    await archive.upload(scan(), never);
    expect(server.heard).toHaveLength(2);
  });
});

describe("an abort", () => {
  test("before the send means not sent", async () => {
    await using server = await RawServer.open({});
    await using archive = await openOn(server);
    const signal = AbortSignal.abort(new Error("stop"));
    const error = await errorOf(archive.upload(scan(), signal));
    expect(error).toMatchObject({ kind: "notSent", code: "SEND_ABORTED" });
    expect(isAbortOf(signal, error)).toBe(true);
    expect(server.heard).toEqual([]);
  });

  test("after the request had left means in doubt", async () => {
    const stop = new AbortController();
    await using server = await RawServer.open({ onWhole: () => stop.abort(new Error("stop")) });
    await using archive = await openOn(server);
    const error = await errorOf(archive.upload(scan(), stop.signal));
    expect(error).toMatchObject({ kind: "inDoubt", code: "SEND_ABORTED" });
    expect(isAbortOf(stop.signal, error)).toBe(true);
  });

  test("after the end of a stream means in doubt as well", async () => {
    const stop = new AbortController();
    await using server = await RawServer.open({ onWhole: () => stop.abort(new Error("stop")) });
    await using archive = await openOn(server);
    const error = await errorOf(archive.upload(scan(fileOf(BIG)), stop.signal));
    expect(error).toMatchObject({ kind: "inDoubt", code: "SEND_ABORTED" });
    expect(server.only.whole).toBe(true);
  });

  test("in the middle of a stream means not sent: its end never leaves", async () => {
    const stop = new AbortController();
    await using server = await RawServer.open({ onHead: () => stop.abort(new Error("stop")) });
    await using archive = await openOn(server);
    const error = await errorOf(archive.upload(scan(fileOf(BIG)), stop.signal));
    expect(error).toMatchObject({ kind: "notSent", code: "SEND_ABORTED" });
    await server.only.over;
    expect(server.only.whole).toBe(false);
  });
});

describe("opening and closing", () => {
  afterEach(() => {
    delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
  });

  test.for([
    ["ftp://archive.example.com", "only http is spoken"],
    ["archive.example.com", "the scheme is missing"],
    ["https://user:hunter2@archive.example.com", "a password has no place there"],
    ["https://archive.example.com/?x=1", "a query cannot be a base"],
  ] as const)("%s is unfit, because %s", async ([url]) => {
    const opening = openOn({ url });
    await expect(opening).rejects.toMatchObject({ code: "ARCHIVE_URL_UNFIT" });
    await expect(opening).rejects.not.toThrow(/hunter2/);
  });

  test("certificate checks cannot be switched off", async () => {
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    const opening = openOn({ url: "https://archive.example.com" });
    await expect(opening).rejects.toMatchObject({ code: "TLS_CHECK_DISABLED" });
  });

  test("closing waits for what is under way, takes nothing new, and may be repeated", async () => {
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<() => void>();
    await using server = await RawServer.open({
      onWhole: (socket) => onAsked(() => void socket.write(stored())),
    });
    await using archive = await openOn(server);
    const running = archive.upload(scan(), never);
    const answer = await asked;
    const closing = archive.close();
    expect(archive.close()).toBe(closing);
    expect(await errorOf(archive.upload(scan(), never))).toMatchObject({
      kind: "notSent",
      code: "ARCHIVE_CLOSED",
    });
    answer();
    expect(await running).toMatchObject({ id: 41 });
    await closing;
  });

  test("the archive's clock is read off its replies", async () => {
    const headers = [[`date: ${new Date(systemClock.now() + 3_600_000).toUTCString()}`], []];
    await using server = await RawServer.open({
      onWhole: (socket) => void socket.write(reply(500, "", headers.shift())),
    });
    let setMs = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + setMs };
    await using archive = await openOn(server, {}, clock);
    expect(archive.clockOffsetMs).toBeUndefined();
    await errorOf(archive.folder(undefined, never));
    expect(archive.clockOffsetMs).toBeGreaterThan(3_000_000);
    expect(archive.clockOffsetMs).toBeLessThan(3_700_000);
    setMs = 7_200_000;
    expect(archive.clockOffsetMs, "our clock was set since").toBeLessThan(-3_000_000);
    await errorOf(archive.folder(undefined, never));
    expect(archive.clockOffsetMs).toBeUndefined();
  });
});
