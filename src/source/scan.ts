/**
 * The scan: the one source of truth about what a mirror holds.
 *
 * It walks the eligible directories, one a tick, and hands over those whose files are not as they
 * are remembered. What it declares vanished is certain:
 *
 * 1. The root is opened once and everything is reached through it, so that a share that is
 *    unmounted in the middle cannot be followed into the bare mount point.
 * 2. An offline source, at the start or at the end, ends the scan with `SourceOffline`.
 * 3. Nothing at or below a directory that could not be read, or an entry of which could not be looked
 *    at, has vanished; and where the problem was of the kind a dying share or disk makes, nothing at all
 *    has. What was seen in it is handed over all the same.
 *
 * File systems mounted inside the source are entered. Links are not.
 */
import { closeSync, fstatSync, statSync } from "node:fs";
import { setImmediate as nextTick } from "node:timers/promises";
import type { Fault } from "../std/fault.ts";
import { dirOf, type RawPath, ROOT } from "../std/raw-path.ts";
import { Window } from "../std/window.ts";
import { openRoot } from "./directory-fd.ts";
import { type Eligibility, eligibility } from "./eligible.ts";
import { FileGone, fileFault, SourceOffline, problemOf } from "./file-fault.ts";
import { look } from "./listing.ts";
import type { Listing, UnreadableEntry, ScanReport, SourceSettings } from "./source.ts";
import { sourceStatus } from "./source-status.ts";

export { listOne } from "./listing.ts";

/** Files whose listings may be on their way at a time; a directory counts as some, too. */
const AHEAD_FILES = 2_000;
const FILES_PER_DIRECTORY = 20;

/** Links that are reported by their paths. */
const LINKS_MAX = 1_000;

/**
 * Walks a source, or what is at and below one directory of it.
 *
 * @param known directories with the fingerprints they are remembered by
 * @param found called for each directory whose fingerprint is another; while what it was given and
 *   has not resolved for adds up to `AHEAD_FILES`, the walk waits, and it ends after the last of them
 * @throws `SourceOffline`; the signal's reason; whatever `found` throws
 */
export async function scan(
  settings: SourceSettings,
  known: ReadonlyMap<RawPath, string>,
  found: (listing: Listing) => void | Promise<void>,
  signal: AbortSignal,
  below: RawPath = ROOT,
): Promise<ScanReport> {
  assertOnline(settings);
  const root = rootOf(settings);
  try {
    const walk = new Walk(settings, root, known, found);
    await walk.run(below, signal);
    assertOnline(settings);
    assertStill(settings, root);
    return walk.report(below);
  } finally {
    closeSync(root);
  }
}

class Walk {
  readonly #settings: SourceSettings;
  readonly #root: number;
  readonly #known: ReadonlyMap<RawPath, string>;
  readonly #found: (listing: Listing) => void | Promise<void>;
  readonly #eligible: Eligibility;
  readonly #ahead = new Window(AHEAD_FILES);
  readonly #visited = new Set<RawPath>();
  readonly #unreadable = new Map<RawPath, UnreadableEntry>();
  #files = 0;
  #leftOut = 0;
  readonly #links: RawPath[] = [];
  #linksFound = 0;
  /** Set once anything failed in a way that makes every absence doubtful. */
  #dying = false;

  constructor(
    settings: SourceSettings,
    root: number,
    known: ReadonlyMap<RawPath, string>,
    found: (listing: Listing) => void | Promise<void>,
  ) {
    this.#settings = settings;
    this.#root = root;
    this.#known = known;
    this.#found = found;
    this.#eligible = eligibility(settings);
  }

  async run(below: RawPath, signal: AbortSignal): Promise<void> {
    const waiting = this.#eligible.directory(below) ? [below] : [];
    for (let dir = waiting.pop(); dir !== undefined; dir = waiting.pop()) {
      signal.throwIfAborted();
      const directories = await this.#visit(dir, signal);
      // Not spread: a directory may hold more of them than a call takes arguments.
      for (const directory of directories.toReversed()) waiting.push(directory);
      await nextTick();
    }
    await this.#ahead.drain();
  }

  /** The directories in `dir` that are to be visited. */
  async #visit(dir: RawPath, signal: AbortSignal): Promise<readonly RawPath[]> {
    const seen = await this.#look(dir, signal);
    if (!seen) return [];
    const { listing, directories, leftOut, links, problem } = seen;
    this.#leftOut += leftOut;
    this.#linksFound += links.length;
    const named = links.filter((path) => this.#eligible.directory(path));
    this.#links.push(...named.slice(0, LINKS_MAX - this.#links.length));
    if (problem) this.#obstruct(dir, problem);
    else this.#visited.add(dir);
    this.#files += listing.files.length;
    if (this.#known.get(dir) !== listing.fingerprint) {
      const weight = FILES_PER_DIRECTORY + listing.files.length;
      await this.#ahead.add(weight, () => this.#found(listing));
    }
    return directories;
  }

  async #look(dir: RawPath, signal: AbortSignal) {
    const steps = look(this.#root, dir, this.#eligible, this.#settings.network);
    try {
      for (;;) {
        const step = steps.next();
        if (step.done) return step.value;
        await nextTick();
        signal.throwIfAborted();
      }
    } catch (error) {
      signal.throwIfAborted();
      const fault = fileFault(error, dir);
      if (dir === ROOT) throw new SourceOffline(fault.message, { cause: error });
      if (!(fault instanceof FileGone)) this.#obstruct(dir, fault);
      return undefined;
    } finally {
      // Closes the directory when the walk was stopped half-way through it.
      steps.return(undefined as never);
    }
  }

  #obstruct(dir: RawPath, fault: Fault): void {
    if (fault instanceof SourceOffline) this.#dying = true;
    this.#unreadable.set(dir, { path: dir, problem: problemOf(fault) });
  }

  report(below: RawPath): ScanReport {
    const vanished = this.#dying
      ? []
      : [...this.#known.keys()].filter((dir) => isAtOrBelow(dir, below) && !this.#accounted(dir));
    return {
      directories: this.#visited.size,
      files: this.#files,
      vanished,
      unreadable: [...this.#unreadable.values()],
      leftOut: this.#leftOut,
      links: { paths: this.#links, number: this.#linksFound },
    };
  }

  #accounted(dir: RawPath): boolean {
    if (this.#visited.has(dir)) return true;
    if (this.#unreadable.size === 0) return false;
    for (let at = dir; at !== ROOT; at = dirOf(at)) if (this.#unreadable.has(at)) return true;
    return this.#unreadable.has(ROOT);
  }
}

function isAtOrBelow(dir: RawPath, top: RawPath): boolean {
  return top === ROOT || dir === top || dir.startsWith(`${top}/`);
}

function assertOnline(settings: SourceSettings): void {
  const status = sourceStatus(settings);
  if (status.kind === "offline") throw new SourceOffline(status.why);
}

function rootOf(settings: SourceSettings): number {
  try {
    return openRoot(settings.source);
  } catch (error) {
    throw new SourceOffline(fileFault(error, ROOT).message, { cause: error });
  }
}

/** The directory that was walked must be the one that still has the source's name. */
function assertStill({ source, network }: SourceSettings, root: number): void {
  const walked = fstatSync(root, { bigint: true });
  const now = statSync(source, { bigint: true, throwIfNoEntry: false });
  if (now?.dev === walked.dev && (network || now.ino === walked.ino)) return;
  throw new SourceOffline(`${source} was mounted again or replaced while it was scanned`);
}
