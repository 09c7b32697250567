/** A reader process over a directory of the test's own, and an archive that never answers. */
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { MirrorStatus, ReaderMirror, SendOrder } from "../../../src/reader/protocol.ts";
import { Reader } from "../../../src/reader/reader.ts";
import type { ReaderOptions } from "../../../src/reader/reader-options.ts";
import type { Listing } from "../../../src/source/source.ts";
import { type Clock, systemClock } from "../../../src/std/clock.ts";
import { silentLog } from "../../../src/std/log.ts";
import { rawOfText } from "../../../src/std/raw-path.ts";
import { scratch, settingsOf } from "../../unit/source/scratch.ts";
import type { ArchiveSettings } from "../../../src/archive/archive.ts";

export const MIRROR = 1;

/** What a reader told, and the reader. */
export type OpenReader = {
  readonly reader: Reader;
  readonly source: string;
  readonly listings: Listing[];
  readonly starts: { readonly statuses: readonly MirrorStatus[]; readonly restart: boolean }[];
  readonly warnings: string[];
  /** Waits the reader's handle asked its clock for. */
  readonly sleeps: number[];
};

/** What differs from a reader that only answers. */
type Setting = Partial<ReaderOptions> & {
  readonly mode?: ReaderMirror["mode"];
  readonly hint?: ReaderOptions["daemon"]["hint"];
  readonly listing?: ReaderOptions["daemon"]["listing"];
};

/** Opens a reader that hosts one mirror; it is closed after the test. */
export function openReader({
  mode = "off",
  hint = async () => {},
  listing = async () => true,
  ...set
}: Setting = {}): OpenReader {
  const source = scratch();
  const listings: Listing[] = [];
  const starts: OpenReader["starts"] = [];
  const warnings: string[] = [];
  const sleeps: number[] = [];
  const clock: Clock = {
    ...systemClock,
    sleep(ms, signal) {
      sleeps.push(ms);
      return systemClock.sleep(ms, signal);
    },
  };
  const tell = (context: object, message: string) => {
    warnings.push(`${message}: ${JSON.stringify(context)}`);
  };
  const reader = Reader.open({
    name: "/",
    mirrors: async () => [aMirror(source, mode)],
    archive: () => null,
    daemon: {
      listing: (mirrorId, told) => {
        listings.push(told);
        return listing(mirrorId, told);
      },
      hint,
      vanished: async () => {},
      allowance: async () => {},
      sent: async () => {},
      doubt: async () => {},
      status: async () => {},
    },
    started: (statuses, restart) => void starts.push({ statuses, restart }),
    clock,
    random: () => 1,
    log: { ...silentLog, warn: tell, error: tell },
    ...set,
  });
  onTestFinished(() => reader.close());
  return { reader, source, listings, starts, warnings, sleeps };
}

function aMirror(source: string, mode: ReaderMirror["mode"]): ReaderMirror {
  return { id: MIRROR, settings: settingsOf(source), mode, tidies: false, known: [] };
}

/** The order to send a file of the source as it is now. */
export async function orderFor(reader: Reader, name: string): Promise<SendOrder> {
  const path = rawOfText(name);
  const [found] = await reader.inspect(MIRROR, [{ path, seen: null }], { pages: false });
  if (found?.kind !== "whole") throw new Error(`${name} is ${found?.kind}`);
  const { seen, digest } = found;
  const place = { mirrorId: MIRROR, path, folderId: 7, filename: name };
  const goes = { metadata: {}, expireDate: null };
  return { ...place, ...goes, seen, digest, batch: "batch-1", pieceBytes: null, id: 1 };
}

/** An archive that takes requests and never answers; `connected` once one is there. */
export async function silentArchive(secret = "s3cret") {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.resume();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const settings: ArchiveSettings = {
    url: `http://127.0.0.1:${port}`,
    accountKey: `key-${secret}`,
    timeoutMs: 6e4,
    signing: {
      scheme: "hmac",
      algorithm: "sha256",
      encoding: "base64",
      secret,
    },
    connections: 4,
  };
  return { settings, connected: once(server, "connection") };
}

/** True while a process runs; one that is dead and not yet buried does not. */
export function isAlive(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  if (!existsSync(stat)) return false;
  try {
    return !/\) [ZX] /.test(readFileSync(stat, "utf8"));
  } catch {
    return false;
  }
}
