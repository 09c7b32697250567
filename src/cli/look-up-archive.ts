import { CONNECTIONS } from "../archive/archive-settings.ts";
import { accountOf, archiveNameOf, archivesIn } from "../config/archive-section.ts";
import type { FileShape } from "../config/config.ts";
import { type ConfigPlaces, readConfigFile } from "../config/config-file.ts";
import { ConfigError } from "../config/config-problems.ts";
import { wholeSketchOf } from "../config/load-config.ts";
import type { ArchiveSettings } from "../archive/archive.ts";
import { UsageError } from "../std/fault.ts";

/**
 * How an archive is spoken to (the one called `wanted`, else the only one or `main`), from that part of
 * the configuration alone: what is wrong with mirrors or journal does not matter here. Throws
 * `ConfigError` with what does.
 */
export async function readArchiveSettings(
  places: ConfigPlaces,
  wanted: string | undefined,
): Promise<ArchiveSettings> {
  const file = await readConfigFile(places);
  const { sketch, findings } = await wholeSketchOf(file, places.env);
  try {
    findings.throwIfAny();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problems = error.problems.filter(({ key }) => /^archives?\b|^$/.test(key));
    if (problems.length > 0) throw new ConfigError(problems);
  }
  const archives = archivesIn(sketch as FileShape);
  const name = archiveNameOf({ archive: wanted }, archives);
  const archive = archives.find((each) => each.name === name);
  if (!archive) throw new UsageError(unknownArchive(wanted, archives));
  const { name: _, network = {}, ...account } = accountOf(archive, places.env);
  return { ...account, network, connections: CONNECTIONS };
}

/** What is wrong with `--archive NAME`, or with its absence. */
function unknownArchive(
  wanted: string | undefined,
  archives: readonly { readonly name: string }[],
): string {
  const names = archives.map(({ name }) => name).join(", ");
  if (wanted === undefined)
    return `there are several archives; choose one with --archive: ${names}`;
  return `there is no archive ${wanted}; there are: ${names}`;
}
