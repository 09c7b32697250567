import type { DueQuery } from "./journal.ts";
import { LARGE_INDEX_BYTES } from "./indexes.ts";

/** The texts by which due rows are found, by their names; each kind of database has its own. */
export type DueText = "any" | "large" | "newest" | "newestLarge";

/** The text that finds what `query` asks for; of large documents alone, by the index of those. */
export function dueText({ order = "oldest", sizeOverBytes = -1 }: DueQuery): DueText {
  const isLarge = sizeOverBytes >= LARGE_INDEX_BYTES;
  if (order === "newest") return isLarge ? "newestLarge" : "newest";
  return isLarge ? "large" : "any";
}
