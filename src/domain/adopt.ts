/**
 * Adopting: documents that are in the archive already are claimed for local files that were never
 * sent by this journal. Like a lost reply it can be known by name and size only, so nothing is
 * taken that could be meant for two.
 */
import type { Candidate } from "./reconcile.ts";

/** A local file that waits to be sent into a folder. */
export type Waiting = {
  readonly id: number;
  readonly sentName: string;
  readonly sizeBytes: number;
};

/** What was taken for what, and what was left for a person; `id` is a row's. */
export type Adoption = {
  readonly taken: readonly { readonly id: number; readonly candidate: Candidate }[];
  /** Files of which the archive has something by that name that cannot be told for certain. */
  readonly unclear: readonly { readonly id: number; readonly candidates: readonly Candidate[] }[];
};

/**
 * Pairs the files of one folder with its documents. A pair needs the same name (NFC), the same size
 * where the archive knows it, an id nobody owns, and that neither side has a second choice; among
 * documents of one name and size the files take theirs in order, since any is as good as another.
 */
export function adoptions(
  files: readonly Waiting[],
  archived: readonly Candidate[],
  claimed: ReadonlySet<number>,
): Adoption {
  const taken: { id: number; candidate: Candidate }[] = [];
  const unclear: { id: number; candidates: readonly Candidate[] }[] = [];
  const byName = Map.groupBy(
    archived.filter(({ id }) => !claimed.has(id)),
    ({ filename }) => filename.normalize("NFC"),
  );
  for (const file of files) {
    const used = new Set(taken.map(({ candidate }) => candidate.id));
    const named = (byName.get(file.sentName.normalize("NFC")) ?? []).filter(
      ({ id }) => !used.has(id),
    );
    const exact = named.filter(({ filesize }) => filesize === file.sizeBytes);
    const unsized = named.filter(({ filesize }) => filesize === 0);
    const [first] = exact;
    if (first && unsized.length === 0) taken.push({ id: file.id, candidate: first });
    else if (exact.length + unsized.length > 0) {
      unclear.push({ id: file.id, candidates: [...exact, ...unsized] });
    }
  }
  return { taken, unclear };
}
