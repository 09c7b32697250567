/**
 * The reader process: the only place that touches users' files. It hosts the mirrors of one file
 * system and sends their documents. When the daemon is gone it ends at once, in the middle of
 * whatever it does: an upload without a daemon to journal its outcome must not go on.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Fence } from "../archive/archive.ts";
import { HttpArchive } from "../archive/http-archive.ts";
import type { Signer } from "../archive/credentials.ts";
import { actWithCompanions } from "../source/act-with-companions.ts";
import { DirectoriesOfTurn } from "../source/directories.ts";
import { inspect, type PdfEngine } from "../source/inspect.ts";
import { PdfThread } from "../source/pdf-thread.ts";
import { noteParser, NotesReader } from "../source/read-notes.ts";
import { leftOf, systemClock, type Until } from "../std/clock.ts";
import { Fault, invariant } from "../std/fault.ts";
import { growSlowly } from "../std/heap.ts";
import { endAllGroups, runHook } from "./run-hook.ts";
import { RpcChannel } from "./rpc-channel.ts";
import { MirrorHost } from "./mirror-host.ts";
import type { DaemonCalls, HookCalls, ReaderCalls, SignCalls } from "./protocol.ts";
import { send } from "./send.ts";

growSlowly();

const hosts = new Map<number, MirrorHost>();
const sends = new Map<number, AbortController>();
const ending = new AbortController();
const pdfThread = new PdfThread();
const directories = new DirectoriesOfTurn();
let archive: HttpArchive | undefined;
/** Until when documents may be handed over; only where there is such a time. */
let until: Until = { monotonic: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };
let fence: Fence | undefined;

/** How long files are looked at closely before others have their turn. */
const TURN_MS = 5;

/** How long counting the pages of PDFs may take in one close look. */
const ENGINE_MS_MAX = 10_000;

function hostOf(mirrorId: number): MirrorHost {
  const host = hosts.get(mirrorId);
  invariant(host, `no mirror ${mirrorId} in this reader`);
  return host;
}

const offer: ReaderCalls = {
  async open(mirrors, settings) {
    if (settings) {
      const isOwn = settings.signing.scheme !== "module";
      const sign: Signer["sign"] = (fields, path) => daemon.call("sign", fields, path);
      archive = await HttpArchive.open(settings, systemClock, isOwn ? undefined : { sign });
    }
    if (settings?.stepwise)
      fence = {
        get leftMs() {
          return leftOf(until);
        },
      };
    const statuses = [];
    for (const mirror of mirrors) {
      // Now, not when the first comes: an upgrade may have replaced the file by then.
      if ((mirror.settings.sidecar ?? "none") !== "none") await noteParser();
      await hosts.get(mirror.id)?.close();
      const host = new MirrorHost(mirror, daemon, systemClock);
      hosts.set(mirror.id, host);
      statuses.push(await host.refresh());
      host.follow(ending.signal).catch(() => {});
    }
    return statuses;
  },
  scan: (mirrorId, below) => hostOf(mirrorId).scan(below, ending.signal),
  async inspect(mirrorId, files, options) {
    const { settings } = hostOf(mirrorId);
    const notes = new NotesReader(settings, systemClock.now());
    const found = [];
    // Files that are made to be hard to read keep those behind them waiting no longer than this.
    const flush = AbortSignal.timeout(ENGINE_MS_MAX);
    const engine: PdfEngine = (bytes) => pdfThread.pages(bytes, flush);
    let turnAt = systemClock.monotonic();
    for (const { path, seen, sentBytes } of files) {
      const also = options.alone ? {} : { notes };
      const asked = { pages: options.pages, engine, sentBytes, directories, ...also };
      const each = await inspect(settings, path, seen ?? undefined, asked, ending.signal);
      const isUncounted =
        options.pages && flush.aborted && each.kind === "whole" && each.pages === undefined;
      found.push(isUncounted ? { ...each, isUncounted } : each);
      // What is being sent has its turn between two files, but not after each: a turn may take long.
      if (systemClock.monotonic() - turnAt < TURN_MS) continue;
      await nextTurn();
      turnAt = systemClock.monotonic();
    }
    return found;
  },
  async notes(mirrorId, path, isThere) {
    const { settings } = hostOf(mirrorId);
    const isRequired = settings.sidecar === "required" && !isThere;
    const sidecar = isRequired ? "optional" : (settings.sidecar ?? "none");
    const asked = { ...settings, sidecar, ready: isThere ? (settings.ready ?? "quiet") : "quiet" };
    return new NotesReader(asked, systemClock.now()).of(path);
  },
  look: async (mirrorId, paths, spelt) => hostOf(mirrorId).look(paths, spelt),
  async send(id, order) {
    invariant(archive, "a reader without an archive was asked to send");
    const cut = new AbortController();
    sends.set(id, cut);
    try {
      const { settings } = hostOf(order.mirrorId);
      const allowance = (bytes: number) => daemon.call("allowance", bytes);
      const sent = (bytes: number) => void daemon.call("sent", order.id, bytes).catch(() => {});
      return await send(
        archive,
        settings,
        order,
        { allowance, fence, sent, directories },
        cut.signal,
      );
    } finally {
      sends.delete(id);
    }
  },
  async mayHandOver(told) {
    until = told;
  },
  abort: async (id) => sends.get(id)?.abort(new Error("cut short")),
  act: (mirrorId, path, expected, action) =>
    actWithCompanions(hostOf(mirrorId).settings, path, expected, action, ending.signal),
  hook: (order) => {
    const begun = (group: number) => {
      daemon.call("hookBegun", group).catch(() => {});
      return () => void daemon.call("hookEnded", group).catch(() => {});
    };
    return runHook(order, begun, systemClock);
  },
  unlearn: async (mirrorId, dirs) => hostOf(mirrorId).unlearn(dirs),
  status: (mirrorId) => hostOf(mirrorId).refresh(),
  async reach() {
    invariant(archive, "a reader without an archive was asked to reach it");
    try {
      await archive.folder(undefined, ending.signal);
      return null;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const { code, message, hint } = error;
      return { code, message, hint };
    }
  },
  ping: async () => {},
};

const daemon = new RpcChannel<DaemonCalls & HookCalls & SignCalls>(
  {
    send: (message) => {
      process.send?.(message);
    },
    onMessage: (listener) => process.on("message", listener),
  },
  offer,
);

// A terminal's Ctrl-C reaches the whole process group; the daemon decides what becomes of readers.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1"] as const) {
  process.on(signal, () => {});
}
// `process.exit` waits for file calls that hang on a dead share; a kill does not.
process.on("disconnect", () => {
  endAllGroups();
  process.kill(process.pid, "SIGKILL");
});
