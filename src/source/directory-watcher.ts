/**
 * chokidar's watcher, for directories alone: of a listing it needs the `lstat` of directories, and would
 * ask for that of every entry before its filters see one (17 µs a file, at the start and again at
 * every event of a directory).
 */
import { lstatSync, type Stats } from "node:fs";
import { type ChokidarOptions, FSWatcher } from "chokidar";

type ScanStream = FSWatcher["createScanStream"];
type ScanOptions = NonNullable<Parameters<ScanStream>[1]>;

/**
 * Where chokidar no longer lists through `createScanStream`, which it calls its own affair, this is its
 * plain watcher: slower, and right.
 */
export class DirectoryWatcher extends FSWatcher {
  constructor(options: Partial<ChokidarOptions>) {
    super({ ...options, followSymlinks: false });
  }

  override createScanStream(root: string, options: ScanOptions = {}): ReturnType<ScanStream> {
    const isWanted = options.directoryFilter;
    return super.createScanStream(root, {
      ...options,
      alwaysStat: false,
      fileFilter: () => false,
      directoryFilter(entry) {
        const stats = statsOf(entry.fullPath);
        if (!stats) return false;
        entry.stats = stats;
        return typeof isWanted === "function" ? isWanted(entry) : true;
      },
    });
  }
}

/** Of a directory that is gone by now, or must not be looked at: nothing. */
function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
