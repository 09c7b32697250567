import { isNetwork, type Mount, mountOf, placeOnDisk, readMounts } from "../source/mounts.ts";
import type { Clock } from "../std/clock.ts";
import { isWithin } from "../std/local-path.ts";
import { Fault } from "../std/fault.ts";

/**
 * Notices that a source has come to lie on another file system: a share that is mounted after the
 * daemon was started, or for good. How a source is watched, what is believed of its files and which
 * of them share a reader process is decided from the mount table, once for each life of the daemon.
 */

/** How often the mount table is looked at; milliseconds. */
const LOOK_MS = 5_000;

/** Sources by the name of their mirror. */
type Sources = readonly { readonly name: string; readonly source: string }[];

/** Where sources lie, as far as it decides anything. */
export class SourcePlaces {
  readonly #sources: Sources;
  readonly #read: () => readonly Mount[];
  readonly #placed: ReadonlyMap<string, string>;

  /** Remembers where they lie now. */
  constructor(sources: Sources, read: () => readonly Mount[] = readMounts) {
    this.#sources = sources;
    this.#read = read;
    this.#placed = this.#look();
  }

  /**
   * Resolves once a source lies elsewhere than at first, with what is now so of each that does.
   * Rejects with the signal's reason.
   */
  async left(clock: Clock, signal: AbortSignal): Promise<string[]> {
    for (;;) {
      await clock.sleep(LOOK_MS, signal);
      const now = this.#look();
      const left = [...now].filter(([name, place]) => this.#placed.get(name) !== place);
      if (left.length > 0) return left.map(([name, place]) => `${name}: ${place}`);
    }
  }

  #look(): Map<string, string> {
    const mounts = this.#read();
    return new Map(
      this.#sources.map(({ name, source }) => [name, placeOf(mountOf(source, mounts))]),
    );
  }
}

/** A share that was mounted on demand is where it was before; its kind makes no difference. */
function placeOf(mount: Mount | undefined): string {
  if (!mount) return "an unknown file system";
  return `${isNetwork(mount) ? "a network" : "a local"} file system at ${mount.point}`;
}

/** Sources of which one lies in another by a link or a mount: the configuration alone cannot tell. */

/**
 * Refuses sources that have files in common, which would be sent twice. Looks at links and the mount
 * table, never at a share. Throws `SOURCES_OVERLAP`.
 */
export function assertApart(mirrors: Sources, mounts: readonly Mount[] = readMounts()): void {
  const places = mirrors.map(({ name, source }) => ({
    name,
    source,
    ...placeOnDisk(source, mounts),
  }));
  for (const [at, one] of places.entries()) {
    const other = places.slice(0, at).find((each) => {
      if (each.fileSystem !== one.fileSystem) return false;
      return isWithin(each.path, one.path) || isWithin(one.path, each.path);
    });
    if (!other) continue;
    throw new Fault(
      "SOURCES_OVERLAP",
      `the source of mirror ${one.name} (${one.source}) overlaps that of ${other.name} (${other.source}) by a link or a mount, so files would be sent twice`,
      "Give folders of which none lies in another.",
    );
  }
}
