import type { FileShape, Sketch } from "./file-schema.ts";
import type { PostgresUrl } from "./journal-place.ts";

/** The journal's keys, in whichever form they are written. */
export type WrittenJournal = {
  readonly path?: string | undefined;
  readonly url?: PostgresUrl | undefined;
  readonly passwordFile?: string | undefined;
  readonly lease?: number | undefined;
  readonly instance?: string | undefined;
};

/** `journal: FILE` and `journal: postgres://…` as the keys that they are short for. */
export function writtenJournal(journal: Sketch["journal"] | FileShape["journal"]): WrittenJournal {
  if (journal === undefined) return {};
  if (typeof journal === "string") return { path: journal };
  // A URL is read as a whole or not at all, also in a sketch.
  if ("server" in journal) return { url: journal as PostgresUrl };
  return journal as WrittenJournal;
}
