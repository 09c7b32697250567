/** What every archive has already of the files that wait to be sent. */
import { lookUpSettings, openClient } from "../archive/archive-settings.ts";
import { accountsOf } from "../config/config.ts";
import type { Document } from "../domain/document.ts";
import type { Config, Mirror } from "../config/config.ts";
import type { Journal } from "../journal/journal.ts";
import type { Clock } from "../std/clock.ts";
import { type AdoptionMatch, findArchived, toBeSent } from "./adopter.ts";
import { unaskedText, WholeArchive } from "./whole-archive.ts";

/** What is looked for, and with what. */
export type Looking = {
  readonly config: Config;
  readonly journal: Journal;
  readonly clock: Clock;
  /** So many files may wait in an archive; absent: any number. */
  readonly waitingMax?: number;
};

/** `waiting`: how many files there are; `unasked`: what cannot be known; `isTooMany`: nothing was looked for. */
export type LookResult = {
  readonly found: readonly AdoptionMatch[];
  readonly waiting: number;
  readonly unasked: readonly string[];
  readonly isTooMany: boolean;
};

/** Looks in every archive for the files of its own mirrors. Rejects with `ArchiveError`. */
export async function lookInArchives(
  { config, journal, clock, waitingMax = Infinity }: Looking,
  signal: AbortSignal,
): Promise<LookResult> {
  const found: AdoptionMatch[] = [];
  const unasked: string[] = [];
  let waiting = 0;
  const rows = await journal.archives();
  for (const account of accountsOf(config)) {
    const row = rows.find(({ name }) => name === account.archive.name);
    if (!row) continue;
    const own = journal.of(row.id);
    const mirrorIds = new Set((await liveMirrors(account, journal)).keys());
    // By their ids: one that changed its state meanwhile may be listed twice.
    const documents = new Map<number, Document>();
    for await (const document of toBeSent(own, mirrorIds)) {
      documents.set(document.id, document);
      if (documents.size > waitingMax) return { found: [], waiting, unasked, isTooMany: true };
    }
    await using archive = await openClient(lookUpSettings(account), clock);
    const { storedSize } = account.archive;
    const whole = new WholeArchive(archive);
    const looking = { journal: own, archive, mirrorIds, whole, storedSize };
    for await (const each of findArchived(looking, [...documents.values()], signal))
      found.push(each);
    waiting += documents.size;
    if (whole.unasked !== null) unasked.push(`${row.name}: ${unaskedText(whole.unasked)}`);
  }
  return { found, waiting, unasked, isTooMany: false };
}

/** The mirrors that are configured, by their ids. */
export async function liveMirrors(
  { mirrors }: Pick<Config, "mirrors">,
  journal: Journal,
): Promise<Map<number, Mirror>> {
  const byName = new Map(mirrors.map((mirror) => [mirror.name, mirror]));
  const rows = await journal.mirrors();
  return new Map(
    rows.flatMap(({ id, name }) => {
      const mirror = byName.get(name);
      return mirror ? [[id, mirror] as const] : [];
    }),
  );
}
