import type { ArchiveAccount, Config } from "../config/config.ts";
import type { ArchiveSettings } from "./archive.ts";
import type { HttpArchive } from "./http-archive.ts";
import type { Clock } from "../std/clock.ts";

/** How the archive is spoken to, over so many connections at most. */
export function archiveSettings(
  { url, accountKey, signing, network, timeoutMs, storedSize }: ArchiveAccount,
  connections: number,
): ArchiveSettings {
  const spoken = { url, accountKey, signing, timeoutMs, storedSize };
  return { ...spoken, ...(network && { network }), connections };
}

/** As many as the daemon looks things up with. */
export const CONNECTIONS = 4;

/** How the archive is spoken to by a command that has the whole configuration. */
export function lookUpSettings({ archive }: Config): ArchiveSettings {
  return archiveSettings(archive, CONNECTIONS);
}

/** Opens the archive's client, which is loaded only here: commands that ask no archive start sooner. */
export async function openClient(settings: ArchiveSettings, clock: Clock): Promise<HttpArchive> {
  const { HttpArchive } = await import("./http-archive.ts");
  return HttpArchive.open(settings, clock);
}
