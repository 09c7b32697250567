import type { HttpArchive } from "../archive/http-archive.ts";
import type { Clock } from "../std/clock.ts";
import type { ArchiveSettings } from "../archive/archive.ts";

/** Opens the archive's client, which is loaded only here: commands that ask no archive start sooner. */
export async function openClient(settings: ArchiveSettings, clock: Clock): Promise<HttpArchive> {
  const { HttpArchive } = await import("../archive/http-archive.ts");
  return HttpArchive.open(settings, clock);
}
