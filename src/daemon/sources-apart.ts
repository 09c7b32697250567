/** Sources of which one lies in another by a link or a mount: the configuration alone cannot tell. */
import type { Mirror } from "../config/config.ts";
import { isWithin } from "../std/local-path.ts";
import { type Mount, placeOnDisk, readMounts } from "../source/mounts.ts";
import { Fault } from "../std/fault.ts";

type Sources = readonly Pick<Mirror, "name" | "source">[];

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
