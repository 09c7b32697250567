/**
 * Notices that a source has come to lie on another file system: a share that is mounted after the
 * daemon was started, or for good. How a source is watched, what is believed of its files and which
 * of them share a reader process is decided from the mount table, once for each life of the daemon.
 */
import { isNetwork, type Mount, mountOf, readMounts } from "../source/mounts.ts";
import type { Clock } from "../std/clock.ts";

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
