import type { ArchiveAccount } from "../config/config.ts";
import type { ArchiveSettings } from "./archive.ts";

/** How the archive is spoken to, over so many connections at most. */
export function archiveSettings(
  { url, accountKey, signing, network, timeoutMs, storedSize }: ArchiveAccount,
  connections: number,
): ArchiveSettings {
  const spoken = { url, accountKey, signing, timeoutMs, storedSize };
  return { ...spoken, ...(network && { network }), connections };
}
