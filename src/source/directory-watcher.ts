/**
 * chokidar's watcher, for directories alone: of a listing it needs the `lstat` of directories, and would
 * ask for that of every entry before its filters see one (17 µs a file, at the start and again at
 * every event of a directory), and for where every link leads.
 */
import type { Stats } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { FSWatcher } from "chokidar";
import { codeOf } from "../std/fault.ts";
import { statsOf } from "./directory-fd.ts";

type ScanStream = FSWatcher["createScanStream"];
type ScanOptions = NonNullable<Parameters<ScanStream>[1]>;
type Entry = { path: string; fullPath: string; basename: string; stats: Stats };

/** What cannot be listed is nobody's to watch; whether it is there is asked elsewhere. */
const UNLISTED: ReadonlySet<string> = new Set(["ENOENT", "EACCES", "EPERM", "ELOOP"]);

/**
 * Where chokidar no longer lists through `createScanStream`, which it calls its own affair, this is its
 * plain watcher: slower, and right.
 */
export class DirectoryWatcher extends FSWatcher {
  /** What the event is about that is just being told, where that is not a directory. */
  #noDirectory: string | undefined;
  /** What was last looked at, and found to be no directory. */
  #lookedAt: string | undefined;

  /** Called for each event just before it is taken up, in the same turn. */
  override emitRaw(...told: Parameters<FSWatcher["emitRaw"]>): void {
    super.emitRaw(...told);
    const [event, entry, details] = told;
    const path = entry === null ? undefined : join(watchedPathOf(details), entry);
    // Whatever takes another's place is reported as a `rename` first.
    const isStill = event === "change" && path === this.#lookedAt;
    if (!isStill) this.#lookedAt = path !== undefined && isNoDirectory(path) ? path : undefined;
    this.#noDirectory = this.#lookedAt;
  }

  /**
   * What is no directory is ignored in the end; before, chokidar would put each of its events in a queue
   * and look at it through the thread pool, which takes longer than all that is done about the file.
   */
  override isUnwatched(path: string): boolean {
    if (path !== this.#noDirectory) return super.isUnwatched(path);
    this.#noDirectory = undefined;
    return true;
  }

  override createScanStream(root: string, options: ScanOptions = {}): ReturnType<ScanStream> {
    // Whole trees at once: of watchers that this system has none of.
    if ("depth" in options) return super.createScanStream(root, options);
    if (this.closed) return undefined;
    const { directoryFilter } = options;
    const isWanted = typeof directoryFilter === "function" ? directoryFilter : () => true;
    const stream = Readable.from(directoriesIn(root, isWanted)) as NonNullable<
      ReturnType<ScanStream>
    >;
    this.streams.add(stream);
    stream.once("close", () => this.streams.delete(stream));
    return stream;
  }
}

async function* directoriesIn(
  root: string,
  isWanted: (entry: Entry) => boolean,
): AsyncGenerator<Entry> {
  for (const name of await namesIn(root)) {
    const fullPath = join(root, name);
    const stats = statsOf(fullPath);
    if (!stats?.isDirectory()) continue;
    const entry = { path: name, fullPath, basename: name, stats };
    if (isWanted(entry)) yield entry;
  }
}

/** Names of directories, and where the file system does not tell types, of anything. */
async function namesIn(root: string): Promise<string[]> {
  try {
    const entries = await readdir(root, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    // Without types Node looks at each entry itself, and fails with the first that is gone.
    return readdir(root).catch((error: unknown) => {
      if (UNLISTED.has(codeOf(error) ?? "")) return [];
      throw error;
    });
  }
}

/** chokidar calls `raw` unstable: empty where it does not look as expected. */
export function watchedPathOf(details: unknown): string {
  if (typeof details !== "object" || details === null || !("watchedPath" in details)) return "";
  return typeof details.watchedPath === "string" ? details.watchedPath : "";
}

function isNoDirectory(path: string): boolean {
  return statsOf(path)?.isDirectory() === false;
}
