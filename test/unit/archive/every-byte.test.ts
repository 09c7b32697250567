/** Connections that break at every single byte of a small upload, and of its reply. */
import { expect, test } from "vitest";
import { ArchiveError } from "../../../src/archive/archive-error.ts";
import type { HttpArchive } from "../../../src/archive/http-archive.ts";
import { createServer, type Socket } from "node:net";
import { once } from "node:events";
import { fileOf, never, openOn, scan } from "./fixture.ts";
import { RawServer, type Script, stored } from "./raw-server.ts";

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
