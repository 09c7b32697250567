/**
 * One mirror inside its reader process: knows whether the source can be trusted, watches it while
 * it can, and turns events into hints. It decides nothing: what it sees, the daemon journals.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { recoverQuarantine } from "../source/after.ts";
import { lookInside } from "../source/open-inside.ts";
import { listOne, scan } from "../source/scan.ts";
import type { Listing, ScanReport } from "../source/source.ts";
import { isSpelt } from "../source/spelling.ts";
import { sourceStatus } from "../source/source-status.ts";
import { DirectoryWatch } from "../source/watch.ts";
import type { Clock } from "../std/clock.ts";
import { messageOf } from "../std/fault.ts";
import { dirOf, type RawPath } from "../std/raw-path.ts";
import { Window } from "../std/window.ts";
import { type RpcChannel, ChannelClosed } from "./rpc-channel.ts";
import type { DaemonCalls, Look, MirrorStatus, ReaderMirror } from "./protocol.ts";

/** How often a source is asked whether it is still there. */
const STATUS_INTERVAL_MS = 5_000;

/**
 * Files that are looked at in one turn of the event loop and told about in one message; the next are looked
 * at once the daemon has journaled those. What comes in fast must not keep waiting what is being sent.
 */
const HINTS_MAX = 100;

/** Directories that are looked for one by one when they went; each takes a look at all that are known. */
const VANISHED_MAX = 16;

/** No listing has it: a directory that is listed again, and missed when it is gone. */
const UNLEARNT = "";
/** It is being reported. */
const REPORTED = "reported";

export class MirrorHost {
  readonly #daemon: RpcChannel<DaemonCalls>;
  readonly #clock: Clock;
  readonly #known: Map<RawPath, string>;
  #mirror: ReaderMirror;
  readonly #closing = new AbortController();
  readonly #hints = new Window(HINTS_MAX);
  /** Directories that changed, to be listed. */
  readonly #toList = new Set<RawPath>();
  #isListing = false;
  #watch: DirectoryWatch | undefined;
  #status: MirrorStatus;

  constructor(mirror: ReaderMirror, daemon: RpcChannel<DaemonCalls>, clock: Clock) {
    this.#mirror = mirror;
    this.#daemon = daemon;
    this.#clock = clock;
    this.#known = new Map(mirror.known);
    this.#status = {
      mirrorId: mirror.id,
      online: false,
      why: "not looked at yet",
      device: mirror.settings.device,
      mode: mirror.mode,
      unwatched: null,
    };
  }

  get settings() {
    return this.#mirror.settings;
  }

  /** Looks at the source now; starts or ends the watch when it came or went. */
  async refresh(): Promise<MirrorStatus> {
    const now = sourceStatus(this.#mirror.settings);
    if (now.kind === "offline") return this.#offline(now.why);
    const was = this.#status;
    const { device } = now;
    this.#remember(device);
    this.#status = { ...was, online: true, why: "", device };
    const { tidies, settings } = this.#mirror;
    // A watch stays with the directory that it was opened on, whatever has its name.
    const isReplaced = this.#watch !== undefined && device !== was.device;
    try {
      if (isReplaced) await this.#unwatch();
      await this.#startWatch();
      if (isReplaced) this.#doubt("the source is another directory now");
      if (!was.online && tidies) await recoverQuarantine(settings, this.#closing.signal);
    } catch (error) {
      this.#closing.signal.throwIfAborted();
      // It went meanwhile, most likely; whatever it is, the next look is another try.
      return this.#offline(messageOf(error));
    }
    this.#status = { ...this.#status, unwatched: this.#watch?.problem ?? null };
    return this.#status;
  }

  /** Keeps asking until `signal` aborts; tells the daemon of every change since it was last answered. */
  async follow(ending: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([ending, this.#closing.signal]);
    let told = this.#status;
    while (!signal.aborted) {
      await this.#clock.sleep(STATUS_INTERVAL_MS, signal);
      const now = await this.refresh();
      const isOther =
        now.online !== told.online || now.why !== told.why || now.unwatched !== told.unwatched;
      if (isOther && (await this.#isTold(now))) told = now;
    }
  }

  /** A whole scan, or one of a subtree. Listings that differ go to the daemon and are waited for. */
  async scan(below: RawPath | null, signal: AbortSignal): Promise<ScanReport> {
    const report = await scan(
      this.#mirror.settings,
      this.#known,
      (listing) => this.#report(listing),
      signal,
      below ?? undefined,
    );
    for (const dir of report.vanished) this.#known.delete(dir);
    return report;
  }

  /**
   * What is at these paths now; where they are to be `spelt` so, only under just these names. A source that is
   * offline tells nothing, whatever its directory looks like.
   */
  look(paths: readonly RawPath[], spelt = false): Look[] {
    if (!this.#status.online) return paths.map(() => undefined);
    const { source, network } = this.#mirror.settings;
    return paths.map((path) => {
      try {
        const seen = lookInside(source, path, network);
        return seen && (!spelt || isSpelt(source, path)) ? seen : null;
      } catch {
        return undefined;
      }
    });
  }

  /**
   * Forgets how these directories looked. What was journaled of single files since leaves a directory whose
   * fingerprint speaks of what was there before: looking like that once more, it would not be reported.
   */
  unlearn(dirs: readonly RawPath[]): void {
    for (const dir of dirs) this.#known.set(dir, UNLEARNT);
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("closing"));
    await this.#unwatch();
  }

  async #offline(why: string): Promise<MirrorStatus> {
    this.#status = { ...this.#status, online: false, why, unwatched: null };
    await this.#unwatch();
    return this.#status;
  }

  /** What the daemon could not take is sent again. */
  async #isTold(status: MirrorStatus): Promise<boolean> {
    try {
      await this.#daemon.call("status", status);
      return true;
    } catch {
      return false;
    }
  }

  async #report(listing: Listing): Promise<void> {
    const { dir, fingerprint } = listing;
    this.#known.set(dir, REPORTED);
    const isWhole = await this.#daemon.call("listing", this.#mirror.id, listing);
    // Hints of files in there, reported meanwhile, may be journaled before it or after.
    if (isWhole && this.#known.get(dir) === REPORTED) this.#known.set(dir, fingerprint);
    else this.unlearn([dir]);
  }

  #remember(device: string): void {
    this.#mirror = { ...this.#mirror, settings: { ...this.#mirror.settings, device } };
  }

  async #startWatch(): Promise<void> {
    if (this.#watch || this.#mirror.mode !== "native") return;
    const watch = await DirectoryWatch.open(
      this.#mirror.settings,
      {
        hint: (paths) => this.#tell(this.#hint(paths)),
        directory: (dir, below) => this.#list(dir, below),
        vanished: (dirs) => this.#vanished(dirs),
        doubt: (why) => this.#doubt(why),
      },
      this.#clock,
    );
    this.#watch = watch;
    if (this.#closing.signal.aborted) await this.#unwatch();
  }

  async #unwatch(): Promise<void> {
    const watch = this.#watch;
    this.#watch = undefined;
    // It tells nothing any more, whatever it could not let go of; the source is followed on.
    await watch?.close().catch(() => {});
  }

  async #hint(paths: readonly RawPath[]): Promise<void> {
    for (let at = 0; at < paths.length; at += HINTS_MAX) {
      const slice = paths.slice(at, at + HINTS_MAX);
      await this.#hints.add(slice.length, () => this.#doubting(() => this.#hintOf(slice)));
      // Where no look tells anything, the window waits for nothing.
      await nextTurn();
      if (this.#closing.signal.aborted) return;
    }
  }

  async #hintOf(paths: readonly RawPath[]): Promise<void> {
    const looks = this.look(paths);
    const files = paths.flatMap((path, index) => {
      const seen = looks[index];
      return seen === undefined ? [] : [{ path, seen }];
    });
    this.unlearn(files.map(({ path }) => dirOf(path)));
    if (files.length === 0) return;
    const journaled = this.#daemon.call("hint", this.#mirror.id, files);
    this.#daemon.flush();
    await journaled;
  }

  /** A directory changed, or appeared with everything below it: it is listed at once. */
  #list(dir: RawPath, below: boolean): void {
    if (below) {
      void this.#doubting(() => this.#listBelow(dir));
      return;
    }
    this.#toList.add(dir);
    if (!this.#isListing) void this.#listAll();
  }

  /** One after another: thousands may have changed at once, and what is sent has its turn in between. */
  async #listAll(): Promise<void> {
    this.#isListing = true;
    for (const dir of this.#toList) {
      // Whatever comes while it is looked at is another reason to look.
      this.#toList.delete(dir);
      await this.#doubting(() => this.#listHere(dir));
      if (this.#closing.signal.aborted) return;
    }
    this.#isListing = false;
  }

  async #listHere(dir: RawPath): Promise<void> {
    const listing = listOne(this.#mirror.settings, dir);
    if (listing && this.#known.get(dir) !== listing.fingerprint) await this.#report(listing);
    else await nextTurn();
  }

  /** Renamed or moved with all that is below them. Where many went at a time, a whole scan is quicker. */
  #vanished(dirs: readonly RawPath[]): void {
    if (dirs.length > VANISHED_MAX) this.#doubt("many directories went");
    else for (const dir of dirs) void this.#doubting(() => this.#listBelow(dir));
  }

  async #listBelow(dir: RawPath): Promise<void> {
    const { id, settings } = this.#mirror;
    const report = (each: Listing) => this.#report(each);
    const { vanished } = await scan(settings, this.#known, report, this.#closing.signal, dir);
    if (vanished.length === 0) return;
    await this.#daemon.call("vanished", id, vanished);
    for (const each of vanished) this.#known.delete(each);
  }

  /** What could not be looked at, or told, is left to a whole scan. */
  async #doubting(listing: () => Promise<void>): Promise<void> {
    try {
      await listing();
    } catch (error) {
      if (this.#closing.signal.aborted || error instanceof ChannelClosed) return;
      this.#doubt(messageOf(error));
    }
  }

  #doubt(why: string): void {
    this.#tell(this.#daemon.call("doubt", this.#mirror.id, why));
  }

  /** A report that cannot be delivered is no loss: the next scan finds what it told. */
  #tell(report: Promise<void>): void {
    report.catch(() => {});
  }
}
