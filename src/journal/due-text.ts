import { invariant } from "../std/invariant.ts";
import type { DueQuery } from "./journal.ts";
import { LARGE_INDEX_BYTES } from "./indexes.ts";

/** The texts by which due rows are found, by their names; each kind of database has its own. */
export type DueText = "any" | "large" | "newest" | "newestLarge" | "smallest";

/** The text that finds what `query` asks for; of large documents alone, by the index of those. */
export function dueText({ order = "oldest", state, sizeOverBytes = -1 }: DueQuery): DueText {
  const isLarge = sizeOverBytes >= LARGE_INDEX_BYTES;
  if (order === "smallest") {
    invariant(state === "pending", "only what waits to be sent is found by its size");
    return "smallest";
  }
  if (order === "newest") return isLarge ? "newestLarge" : "newest";
  return isLarge ? "large" : "any";
}
