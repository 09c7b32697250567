import type { Journal } from "../journal/journal.ts";
import type { FoundLinks } from "../source/source.ts";
import { joinRaw, type RawPath, shown } from "../std/raw-path.ts";

/** Links of a source, none of which is followed: those with a folder's former name, and how many others. */
export type Links = { readonly replaced: readonly string[]; readonly others: number };

/**
 * What was found, told apart by what the journal knows below each; null without any. A folder of which no document
 * was ever journaled, or all were forgotten, is not known to have been one.
 */
export async function linksIn(
  journal: Pick<Journal, "list"> | undefined,
  mirrorId: number,
  { paths, number }: FoundLinks,
  before: readonly string[] = [],
): Promise<Links | null> {
  const replaced: string[] = [];
  for (const path of paths) {
    const isKnown = before.includes(shown(path)) || (await isAboveOne(journal, mirrorId, path));
    if (isKnown) replaced.push(shown(path));
  }
  return number === 0 ? null : { replaced, others: number - replaced.length };
}

async function isAboveOne(
  journal: Pick<Journal, "list"> | undefined,
  mirrorId: number,
  path: RawPath,
): Promise<boolean> {
  for await (const { dir, name } of journal?.list({ path: { mirrorId, path } }) ?? [])
    if (joinRaw(dir, name) !== path) return true;
  return false;
}
