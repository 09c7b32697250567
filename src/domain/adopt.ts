/**
 * Adopting: documents that are in the archive already are claimed for local files that were never
 * sent by this journal. Like a lost reply it can be known by name and size only, so nothing is
 * taken that could be meant for two.
 */
import { type Candidate, mayBeBytes } from "./reconcile.ts";
import type { StoredSize } from "./stored-size.ts";

/** A local file that waits to be sent into a folder. */
export type WaitingFile = {
  readonly id: number;
  readonly sentName: string;
  readonly sizeBytes: number;
  /** When the file was last written, by the archive's clock; epoch ms. */
  readonly writtenAt: number;
};

/** What a file is taken for; null: it may be any of the `unclear`, which is left for a person. */
export type Adoption = {
  readonly taken: Candidate | null;
  readonly unclear: readonly Candidate[];
};

/**
 * The remark of a document that is sent although the archive may have it, as a user asked: of this content, and once. A
 * lost reply takes it away, as what is in the archive then may be this very document.
 */
export const AS_NEW = "sent as a new document, as was asked for: the archive had one of its name";

/** True where `remark` is that. */
export function isAsNew({ remark }: { readonly remark?: string | null }): boolean {
  return remark === AS_NEW;
}

/** By ids of rows; those of which the archive has nothing are absent. */
type Adoptions = ReadonlyMap<number, Adoption>;

/**
 * Pairs the files of one folder with those of its documents that nobody owns. A pair needs the same name (NFC), the
 * same size where the archive knows it, an upload after the file was last written, and that neither side has a second
 * choice; among documents of one name and size the files take theirs in order, since any is as good as another.
 */
export function adoptions(
  files: readonly WaitingFile[],
  foreign: readonly Candidate[],
  storedSize: StoredSize = "same",
): Adoptions {
  const found = new Map<number, Adoption>();
  const used = new Set<number>();
  const byName = Map.groupBy(foreign, ({ filename }) => filename.normalize("NFC"));
  for (const { id, sentName, sizeBytes, writtenAt } of files) {
    const named = (byName.get(sentName.normalize("NFC")) ?? []).filter(
      (each) => !used.has(each.id) && mayBeBytes(each, sizeBytes, storedSize),
    );
    const exact = named.filter(({ filesize }) => filesize === sizeBytes);
    const unsized = named.filter(({ filesize }) => filesize !== sizeBytes);
    // What is older than the file has another content, as today's scan of yesterday's name and size.
    const [first] = exact.filter(({ uploadedDate }) => uploadedDate >= writtenAt);
    if (first && unsized.length === 0) found.set(id, { taken: first, unclear: [] });
    else if (named.length > 0) found.set(id, { taken: null, unclear: [...exact, ...unsized] });
    used.add(found.get(id)?.taken?.id ?? 0);
  }
  return found;
}

/**
 * The same for files of whatever folders and documents of the whole archive, which people may have filed elsewhere: of
 * a name and size there must be one file and one document only, since another folder may well be another's.
 */
export function adoptionsElsewhere(
  files: readonly WaitingFile[],
  foreign: readonly Candidate[],
  storedSize: StoredSize = "same",
): Adoptions {
  const nameOf = (name: string) => name.normalize("NFC");
  const byName = Map.groupBy(foreign, ({ filename }) => nameOf(filename));
  const alike = Map.groupBy(files, ({ sentName, sizeBytes }) => `${sizeBytes} ${nameOf(sentName)}`);
  const found = new Map<number, Adoption>();
  for (const same of alike.values()) {
    for (const { id, sentName, sizeBytes, writtenAt } of same) {
      const candidates = (byName.get(nameOf(sentName)) ?? []).filter((each) =>
        mayBeBytes(each, sizeBytes, storedSize),
      );
      const [only] = candidates;
      if (!only) continue;
      const isSure = only.filesize === sizeBytes && only.uploadedDate >= writtenAt;
      const isOne = isSure && candidates.length + same.length === 2;
      found.set(id, isOne ? { taken: only, unclear: [] } : { taken: null, unclear: candidates });
    }
  }
  return found;
}
