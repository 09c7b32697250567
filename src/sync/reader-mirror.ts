import type { Mirror } from "../config/config.ts";
import type { FileIndex, MirrorRow, Registry } from "../journal/journal.ts";
import type { ReaderMirror } from "../reader/protocol.ts";
import { isNetwork, type Mount, mountOf, watchMode } from "../source/mounts.ts";
import type { SourceSettings } from "../source/source.ts";
import { sourceStatus } from "../source/source-status.ts";
import { rawOfText, shown } from "../std/raw-path.ts";
import type { Ownership } from "./ownership.ts";

/** What a reader learns about a source; decided from the mount table, never by touching the source. */
export function sourceSettings(
  mirror: Mirror,
  mount: Mount | undefined,
  device: string | null,
): SourceSettings {
  const { after, source } = mirror;
  const inside = after.kind === "move" && after.to.startsWith(`${source}/`);
  return {
    source,
    include: mirror.include,
    exclude: mirror.exclude,
    without: inside ? [shown(rawOfText(after.to.slice(source.length + 1)))] : [],
    device,
    network: mount !== undefined && isNetwork(mount),
    sidecar: mirror.rules.sidecar,
    ready: mirror.rules.ready.by,
    settleMs: mirror.settleMs,
  };
}

/**
 * True where the mirror's files are this host's own, and there: where events report every write, and
 * looking is cheapest. Touches no share. The bare mount point of one is on a local file system too, and
 * is empty.
 *
 * @param device what the mirror's source was on when it last had entries, as journaled
 */
export function isLocal(mirror: Mirror, mounts: readonly Mount[], device: string | null): boolean {
  const mount = mountOf(mirror.source, mounts);
  if (!mount || isNetwork(mount)) return false;
  const settings = sourceSettings(mirror, mount, device ?? "none yet");
  return sourceStatus(settings).kind === "online";
}

/**
 * A mirror as its reader hosts it, with the fingerprints that are journaled by now. Where another
 * daemon leads it, its files are only read, and sent.
 */
export async function readerMirror(
  journal: FileIndex & Registry,
  row: MirrorRow,
  mirror: Mirror,
  mounts: readonly Mount[],
  ownership: Ownership,
): Promise<ReaderMirror & { why: string }> {
  const mount = mountOf(mirror.source, mounts);
  const rows = await journal.mirrors();
  const device = rows.find(({ id }) => id === row.id)?.device ?? null;
  const isLed = ownership.owns(row.id);
  return {
    id: row.id,
    settings: sourceSettings(mirror, mount, device),
    // What lies aside may be in the other one's hand just now; or of a life in which the mirror move or delete files.
    tidies: isLed,
    ...(isLed
      ? watchMode(mirror.watch, mount)
      : { mode: "off", why: "another daemon leads this mirror" }),
    // To the reader, what it knows and does not find has vanished.
    known: isLed ? await journal.directories(row.id) : [],
  };
}
