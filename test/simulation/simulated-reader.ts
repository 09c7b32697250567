import { ArchiveError } from "../../src/archive/archive-error.ts";
import type { Seen } from "../../src/domain/document.ts";
import type { Outcome } from "../../src/domain/outcome.ts";
import { ChannelClosed } from "../../src/reader/rpc-channel.ts";
import type {
  DaemonCalls,
  HookEnd,
  HookOrder,
  Look,
  MirrorStatus,
  SendOrder,
} from "../../src/reader/protocol.ts";
import type { Reader } from "../../src/reader/reader.ts";
import type { SidecarRead } from "../../src/domain/attributes.ts";
import { markerOf } from "../../src/source/companions.ts";
import type {
  Acted,
  ArchivedFile,
  Inspection,
  UnreadableEntry,
  ScanReport,
} from "../../src/source/source.ts";
import type { Clock } from "../../src/std/clock.ts";
import { Fault } from "../../src/std/fault.ts";
import { dirOf, type RawPath } from "../../src/std/raw-path.ts";
import {
  type CompanionSettings,
  companionUseOf,
  isRead,
  notesOf,
  sidecarOf,
} from "./companions.ts";
import type { Dice } from "./dice.ts";
import type { Life } from "./life.ts";
import { offline, unreadable } from "./send-outcome.ts";
import {
  heard,
  HOOK_FAILURES,
  HOOK_MS,
  HUNG,
  type News,
  newsIn,
  said,
  type SimulatedHook,
} from "./simulated-hook.ts";
import type { SimulatedArchive } from "./simulated-archive.ts";
import { type SimulatedTree, digestOf } from "./simulated-tree.ts";

/** The part of a reader that the loops use. */
export type UsedReader = Pick<
  Reader,
  "pid" | "silent" | "host" | "inspect" | "look" | "send" | "act" | "scan" | "unlearn" | "hook"
>;

/** A source: its files, and whether it can be reached. */
export type Source = {
  readonly tree: SimulatedTree;
  readonly mode: "native" | "polling";
  /** Of its mirror: what nobody changes. */
  readonly settings: CompanionSettings;
  readonly hook: SimulatedHook;
  /** Something about an `after` hook that is called. */
  readonly told: (news: News) => void;
  /** Something about a file that is moved or deleted; called before it goes. */
  readonly afterActions: (path: RawPath, content: string) => void;
  /** The same of the sidecar of a document. */
  readonly sidecarGoes: (path: RawPath, content: string, title: string, action: string) => void;
  online: boolean;
  /** Something that happens to the next file that is read, while it is. */
  ambush: ((path: RawPath) => void) | undefined;
};

type Parts = {
  readonly life: Life;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly archive: SimulatedArchive;
  readonly source: Source;
  readonly mirrorId: number;
  /** What a crash left half moved or deleted is put back. */
  readonly tidies: () => boolean;
  /** Whether a request may have its end now. */
  readonly mayEnd: () => Promise<boolean>;
  readonly daemon: DaemonCalls;
  /** Directories that are journaled, asked at every start. */
  readonly known: () => Promise<readonly (readonly [RawPath, string])[]>;
  readonly started: (status: MirrorStatus, restart: boolean) => void;
};

type Pause = (ms: number) => Promise<void>;

const DOWN_MS_MAX = 3_000;

/** What is known of a directory while it is reported. */
const REPORTED = "reported";

/** A reader's process on a simulated source: everything takes a while, and it may die under it. */
export class SimulatedReader implements UsedReader {
  readonly #parts: Parts;
  /** Changes with every start of the process. */
  #incarnation = 0;
  #isUp = false;
  #isClosed = false;
  #up = Promise.withResolvers<void>();
  #known = new Map<RawPath, string>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#up.promise.catch(() => {});
  }

  readonly silent = false;

  get pid(): number | undefined {
    return this.#isUp ? 4_711 : undefined;
  }

  get status(): MirrorStatus {
    const { mirrorId, source } = this.#parts;
    const { online, mode } = source;
    return {
      mirrorId,
      online,
      why: online ? "" : "not mounted",
      device: online ? "dev" : null,
      mode,
      unwatched: null,
    };
  }

  /** Starts the process, the first time or again. */
  async start(): Promise<void> {
    const restart = this.#incarnation > 0;
    this.#incarnation += 1;
    await this.#hosted();
    this.#isUp = true;
    this.#up.resolve();
    this.#parts.started(this.status, restart);
  }

  /** Another daemon did this until now. */
  async host(): Promise<void> {
    try {
      await this.#work(async (pause) => {
        await pause(this.#parts.dice.int(1, 40));
        await this.#hosted();
        await pause(0);
      });
    } catch (error) {
      if (!(error instanceof ChannelClosed)) throw error;
      await this.#up.promise;
    }
  }

  async #hosted(): Promise<void> {
    this.#known = new Map(await this.#parts.known());
    if (this.#parts.tidies()) this.#parts.source.tree.recover();
  }

  /** The process dies, and is started again after a while. */
  async die(): Promise<void> {
    if (!this.#isUp) return;
    this.#isUp = false;
    this.#incarnation += 1;
    this.#up = Promise.withResolvers();
    this.#up.promise.catch(() => {});
    await this.#parts.life.pause(this.#parts.dice.int(200, DOWN_MS_MAX));
    if (!this.#isClosed) await this.start();
  }

  close(): void {
    this.#isClosed = true;
    this.#isUp = false;
    this.#incarnation += 1;
    this.#up.reject(new ChannelClosed("closing"));
  }

  inspect(
    _: number,
    files: readonly { path: RawPath; seen: Seen | null }[],
    { alone = false }: Parameters<Reader["inspect"]>[2],
  ): Promise<Inspection[]> {
    return this.#work(async (pause) => {
      const found: Inspection[] = [];
      for (const { path, seen } of files) found.push(await this.#inspect(path, seen, pause, alone));
      return found;
    });
  }

  /** A hook that fails may have been at it for as long as one that does not, or hangs until it is killed. */
  hook({ input, timeoutMs }: HookOrder): Promise<HookEnd> {
    return this.#work(async (pause) => {
      const { source, dice } = this.#parts;
      const news = newsIn(input);
      if (news) source.told(news);
      const failure = dice.chance(source.hook.failing) ? dice.pick(HOOK_FAILURES) : undefined;
      await pause(failure === HUNG ? timeoutMs : (dice.pick(HOOK_MS) ?? 0));
      const answer = news ? heard(source.hook, news, failure) : said(source.hook, input, failure);
      return failure === undefined ? { output: Buffer.from(answer) } : { failure };
    });
  }

  async unlearn(_: number, dirs: readonly RawPath[]): Promise<void> {
    for (const dir of dirs) this.#known.set(dir, "");
  }

  look(_: number, paths: readonly RawPath[]): Promise<Look[]> {
    return this.#work(async (pause) => {
      await pause(1);
      const { online, tree } = this.#parts.source;
      return paths.map((path) =>
        online && tree.isOpen(dirOf(path)) ? (tree.at(path)?.seen ?? null) : undefined,
      );
    });
  }

  async send(order: SendOrder, cut: AbortSignal): Promise<Outcome> {
    if (!this.#isUp || cut.aborted) return { kind: "released" };
    try {
      return await this.#work((pause) => this.#send(order, cut, pause));
    } catch (error) {
      if (!(error instanceof ChannelClosed)) throw error;
      return { kind: "inDoubt", problem: { code: "REPLY_LOST", message: error.message } };
    }
  }

  async act(
    _: number,
    path: RawPath,
    { digest, sidecar }: ArchivedFile,
    { kind }: Parameters<Reader["act"]>[3],
  ): Promise<Acted> {
    if (!this.#isUp) throw new ChannelClosed("the reader is not up");
    return this.#work(async (pause) => {
      const { source, dice } = this.#parts;
      const { tree } = source;
      await pause(dice.int(1, 20));
      if (!source.online) return { kind: "refused", problem: offline() };
      const file = tree.at(path);
      if (!file) return { kind: "gone" };
      if (!tree.isOpen(dirOf(path)) || file.unreadable) {
        return { kind: "refused", problem: { code: "AFTER_REFUSED", message: "no right to" } };
      }
      // Its writer would go on with it under the other name, which is not simulated.
      if (!file.whole) {
        return { kind: "refused", problem: { code: "FILE_CHANGED", message: "is being written" } };
      }
      tree.putAside(path);
      await pause(dice.int(0, 2_000));
      if (digestOf(file.content) !== digest) {
        tree.putBack(path);
        return { kind: "refused", problem: { code: "FILE_CHANGED", message: "other content" } };
      }
      source.afterActions(path, file.content);
      tree.dropAside(path);
      await pause(dice.int(0, 5));
      this.#companionsGo(path, file.content, sidecar, kind);
      return { kind: "done" };
    });
  }

  scan(): Promise<ScanReport> {
    return this.#work(async (pause) => {
      const { tree } = this.#parts.source;
      const visited = new Set<RawPath>();
      const entries: UnreadableEntry[] = [];
      this.#assertOnline();
      for (const dir of tree.directories) {
        // A walk takes its time here and there; between two pauses it is at once.
        if (this.#parts.dice.chance(0.3)) await pause(this.#parts.dice.int(0, 40));
        this.#assertOnline();
        visited.add(dir);
        if (tree.isOpen(dir)) await this.list(dir);
        else entries.push({ path: dir, problem: unreadable() });
      }
      this.#assertOnline();
      const vanished = [...this.#known.keys()].filter((dir) => !visited.has(dir));
      for (const dir of vanished) this.#known.delete(dir);
      return {
        directories: visited.size,
        files: 0,
        vanished,
        unreadable: entries,
        leftOut: 0,
        links: { paths: [], number: 0 },
      };
    });
  }

  /** Tells the daemon of a directory that is not as it is remembered. */
  async list(dir: RawPath): Promise<void> {
    const { tree } = this.#parts.source;
    if (!tree.directories.includes(dir) || !tree.isOpen(dir)) return;
    const listing = tree.listing(dir);
    if (this.#known.get(dir) === listing.fingerprint) return;
    this.#known.set(dir, REPORTED);
    const isWhole = await this.#parts.daemon.listing(this.#parts.mirrorId, listing);
    const isUndisturbed = isWhole && this.#known.get(dir) === REPORTED;
    this.#known.set(dir, isUndisturbed ? listing.fingerprint : "");
  }

  /** Tells the daemon of files that may have changed. */
  async hint(paths: readonly RawPath[]): Promise<void> {
    const { source, daemon, mirrorId } = this.#parts;
    if (!this.#isUp || !source.online) return;
    const open = paths.filter((path) => source.tree.isOpen(dirOf(path)));
    const files = open
      .filter((path) => source.tree.isEligible(path))
      .map((path) => ({ path, seen: source.tree.at(path)?.seen ?? null }));
    const dirs = files.map(({ path }) => dirOf(path));
    await this.unlearn(mirrorId, dirs);
    await daemon.hint(mirrorId, files);
  }

  /** Runs `work` in this incarnation: once it is dead, its next pause ends it. */
  async #work<T>(work: (pause: Pause) => Promise<T>): Promise<T> {
    const { life } = this.#parts;
    return life.call(async () => {
      if (!this.#isUp) await this.#up.promise;
      const incarnation = this.#incarnation;
      return work(async (ms) => {
        await life.pause(ms);
        if (this.#incarnation !== incarnation) throw new ChannelClosed("the reader ended: SIGKILL");
      });
    });
  }

  /** What stands next to a file that was moved or deleted, as far as it was read for it. */
  #companionsGo(path: RawPath, content: string, read: SidecarRead | null, action: string): void {
    const { source } = this.#parts;
    const { tree } = source;
    const use = companionUseOf(source.settings);
    if (use.markers && tree.at(markerOf(path))) tree.remove(markerOf(path));
    const sidecar = tree.at(sidecarOf(path));
    if (!use.sidecars || !sidecar || !isRead(sidecar, read)) return;
    source.sidecarGoes(path, content, sidecar.content, action);
    tree.remove(sidecarOf(path));
  }

  async #inspect(
    path: RawPath,
    expected: Seen | null,
    pause: Pause,
    alone: boolean,
  ): Promise<Inspection> {
    const { source, dice, clock } = this.#parts;
    if (!source.online) return { kind: "unreadable", problem: offline() };
    const before = source.tree.at(path);
    if (!source.tree.isOpen(dirOf(path))) return { kind: "unreadable", problem: unreadable() };
    if (!before) return { kind: "gone" };
    if (before.unreadable) return { kind: "unreadable", problem: unreadable() };
    if (expected && before.seen.stamp !== expected.stamp) {
      return { kind: "changed", seen: before.seen };
    }
    const notes = alone ? undefined : notesOf(source.tree, path, source.settings, clock.now());
    if (notes?.kind === "waits") return { ...notes, seen: before.seen };
    const completeness = source.tree.completeness(path);
    spring(source, path);
    await pause(dice.int(1, 40));
    if (!source.online) return { kind: "unreadable", problem: offline() };
    const after = source.tree.at(path);
    if (!after) return { kind: "gone" };
    if (after.seen.stamp !== before.seen.stamp) return { kind: "changed", seen: after.seen };
    // Here no inode is given to another file.
    const whole = { digest: digestOf(before.content), seen: after.seen, completeness, bornAt: 0 };
    return { kind: "whole", ...whole, ...(notes ? { notes } : {}) };
  }

  async #send(order: SendOrder, cut: AbortSignal, pause: Pause): Promise<Outcome> {
    const { source, archive, dice } = this.#parts;
    await pause(dice.int(0, 20));
    if (cut.aborted) return { kind: "released" };
    if (!source.online) return { kind: "unreadable", problem: offline() };
    const file = source.tree.at(order.path);
    if (!source.tree.isOpen(dirOf(order.path))) {
      return { kind: "unreadable", problem: unreadable() };
    }
    if (!file) return { kind: "gone" };
    if (file.unreadable) return { kind: "unreadable", problem: unreadable() };
    if (file.seen.stamp !== order.seen.stamp || digestOf(file.content) !== order.digest) {
      return { kind: "changed" };
    }
    const { folderId, filename } = order;
    spring(source, order.path);
    const { title } = order.metadata;
    const { content, seen } = file;
    const upload = { folderId, filename, content, sizeBytes: seen.sizeBytes, title };
    try {
      const { id, uploadedDate } = await archive.store(upload, cut, this.#parts.mayEnd);
      await pause(0);
      return { kind: "accepted", documentId: id, status: "UPLOADED", uploadedDate };
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      await pause(0);
      return error.outcome;
    }
  }

  #assertOnline(): void {
    if (this.#parts.source.online) return;
    throw new Fault("SOURCE_OFFLINE", "not mounted", "mount it");
  }
}

function spring(source: Source, path: RawPath): void {
  const { ambush } = source;
  source.ambush = undefined;
  ambush?.(path);
}
