/**
 * A file's chunks are written over as soon as the next one is asked for (`UploadFile`): by then the
 * kernel must have them, however slowly the peer takes them.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
} from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Upload, UploadFile } from "../../../src/archive/archive.ts";
import { never, openOn, scan } from "../../unit/archive/fixture.ts";
import { RawServer, stored } from "../../unit/archive/raw-server.ts";

const CHUNK_BYTES = 256 * 1024;
const CHUNKS = 40;
/** The least that a file's slice has. */
const SLICE_BYTES = 128 * 1024;
/** More than lies about in the kernel. */
const SLICES = 80;
/** What a peer does with each piece before it takes the next. */
const MAX_SLEEP_MS = 1;

const hasOpenssl = spawnSync("openssl", ["version"], { stdio: "ignore" }).status === 0;
const dir = mkdtempSync(join(tmpdir(), "reused-chunks-"));
const before = getCACertificates("default");

beforeAll(() => {
  if (!hasOpenssl) return;
  const subject = ["-subj", "/CN=archive", "-addext", "subjectAltName=IP:127.0.0.1"];
  const made = ["-keyout", "key.pem", "-out", "cert.pem", "-days", "10"];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  execFileSync("openssl", ["req", "-x509", ...kind, ...subject, ...made], {
    cwd: dir,
    stdio: "ignore",
  });
  setDefaultCACertificates([...before, readFileSync(join(dir, "cert.pem"), "utf8")]);
});

afterAll(() => {
  setDefaultCACertificates(before);
  rmSync(dir, { recursive: true });
});

function tlsServer(): Server {
  const [key, cert] = ["key.pem", "cert.pem"].map((name) => readFileSync(join(dir, name)));
  return createTlsServer({ key, cert });
}

/** Takes what comes a little at a time, and hands it on. */
async function slowly(server: Server, event: string, port: number): Promise<number> {
  server.on(event, (socket: Socket) => {
    const onward = connect(port, "127.0.0.1");
    for (const each of [socket, onward]) each.on("error", () => {});
    onward.pipe(socket);
    socket.on("data", (piece) => {
      onward.write(piece);
      socket.pause();
      setTimeout(() => socket.resume(), MAX_SLEEP_MS);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** One buffer for all chunks, each of which has its number in every byte. */
function reused(): UploadFile {
  const buffer = Buffer.alloc(CHUNK_BYTES);
  return {
    sizeBytes: CHUNKS * CHUNK_BYTES,
    async *chunks() {
      for (let index = 1; index <= CHUNKS; index++) yield buffer.fill(index);
    },
  };
}

/** Slices of one buffer, which is someone else's once more than the last one is asked for. */
function givenAway(): UploadFile {
  const buffer = Buffer.alloc(SLICES * SLICE_BYTES, 7);
  return {
    sizeBytes: buffer.length,
    async *chunks() {
      for (let at = 0; at < buffer.length; at += SLICE_BYTES)
        yield buffer.subarray(at, at + SLICE_BYTES);
      buffer.fill(8);
    },
  };
}

const ways: [what: string, more: Partial<Upload>, stepwise: boolean][] = [
  ["as fast as it goes", {}, false],
  ["at a rate", { allowance: { pieceBytes: 100_000, take: async () => {} } }, false],
  ["within a lease", { fence: { leftMs: 60_000 } }, true],
];

describe.for([
  ["http", () => createServer(), "connection", false],
  ["https", tlsServer, "secureConnection", !hasOpenssl],
] as const)("over $0", ([scheme, make, event, skip]) => {
  /** The body as it arrived, all of it having been slow to leave. */
  async function arrived(file: UploadFile, more: Partial<Upload>, stepwise: boolean) {
    await using server = await RawServer.open({ onWhole: (socket) => void socket.write(stored()) });
    const relay = make();
    const port = await slowly(relay, event, server.port);
    await using archive = await openOn({ url: `${scheme}://127.0.0.1:${port}` }, { stepwise });
    await archive.upload(scan(file, more), never);
    relay.close();
    const [heard] = server.heard;
    return heard?.body ?? Buffer.alloc(0);
  }

  test.skipIf(skip).for(ways)("memory that is given away, $0", async ([, more, stepwise]) => {
    const body = await arrived(givenAway(), more, stepwise);
    expect(body.includes(Buffer.alloc(SLICES * SLICE_BYTES, 7))).toBe(true);
  });

  test.skipIf(skip).for(ways)("$0", async ([, more, stepwise]) => {
    const body = await arrived(reused(), more, stepwise);
    const begins = body.indexOf(Buffer.alloc(CHUNK_BYTES, 1));
    const areAsSent = Array.from({ length: CHUNKS }, (_, index) => {
      const at = begins + index * CHUNK_BYTES;
      return body.subarray(at, at + CHUNK_BYTES).equals(Buffer.alloc(CHUNK_BYTES, index + 1));
    });
    expect(areAsSent).toEqual(areAsSent.map(() => true));
  });
});
