/** What every archive has already of the files that wait to be sent, and what a user says of its content. */
import { lookUpSettings, openClient } from "../archive/archive-settings.ts";
import { accountsOf } from "../config/config.ts";
import type { Config, Mirror } from "../config/config.ts";
import type { Document } from "../domain/document.ts";
import type { Change, DocumentReader, Journal } from "../journal/journal.ts";
import type { Clock } from "../std/clock.ts";
import { type AdoptionMatch, findArchived, toBeSent, type UnsentDocument } from "./adopter.ts";
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
    const documents = new Map<number, UnsentDocument>();
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

/** Rows of these mirrors that were claimed by name and size alone, and whose file is there. */
export async function* claimedByName(
  journal: DocumentReader,
  mirrorIds: ReadonlySet<number>,
): AsyncGenerator<Document> {
  for (const state of ["uploaded", "converted"] as const) {
    for await (const document of journal.list({ state, currentOnly: true })) {
      const { mirrorId, sentBytes, goneAt } = document;
      if (sentBytes === null && goneAt === null && mirrorIds.has(mirrorId)) yield document;
    }
  }
}

/**
 * A person vouches that the archive has the content of this row's file: it counts as sent, and where
 * `putsAway` its mirror moves or deletes what is archived.
 */
export function vouching(document: UnsentDocument, putsAway: boolean, at: number): Change {
  const { id, state, archiveBytes, seen } = document;
  const sentBytes = archiveBytes ?? seen.sizeBytes;
  const due = { after: "due", afterMessage: null, dueAt: at } as const;
  const set = { sentBytes, ...(putsAway && state === "converted" ? due : {}) };
  return { type: "note", id, at, why: "its content is trusted: adopt --trust-content", set };
}
