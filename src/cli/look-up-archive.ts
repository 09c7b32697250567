import { dirname } from "node:path";
import { CONNECTIONS } from "../archive/archive-settings.ts";
import { archiveNameOf, archivesIn } from "../config/archives.ts";
import { signingOf } from "../config/build-config.ts";
import { ConfigError } from "../config/config-error.ts";
import { type ConfigPlaces, readConfigFile } from "../config/config-file.ts";
import { findNetworks } from "../config/find-networks.ts";
import type { FileShape } from "../config/file-schema.ts";
import { findSecrets } from "../config/secrets.ts";
import { sketchOf } from "../config/sketch-of.ts";
import { invariant } from "../std/invariant.ts";
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
  const { sketch, findings } = sketchOf(file, places.env);
  const around = { config: file, env: places.env, findings, files: [] };
  const secrets = await findSecrets(sketch, around);
  const networks = await findNetworks(sketch, around);
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
  const { url, timeout, signing, storedSize } = archive.section;
  const { accountKey, signingSecret } = secrets.archives.get(archive.name) ?? {};
  invariant(accountKey !== undefined, "a checked archive part is whole");
  const signs = signingOf(signing, signingSecret, dirname(file.path));
  const network = networks.archives.get(archive.name) ?? {};
  const spoken = { url, accountKey, signing: signs, network, timeoutMs: timeout, storedSize };
  return { ...spoken, connections: CONNECTIONS };
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
