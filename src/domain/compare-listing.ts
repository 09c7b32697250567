import type { RawPath } from "../std/raw-path.ts";
import type { Seen } from "./document.ts";
import { isSameStamp } from "./stamp.ts";

/** What is journaled of a file, as far as a comparison needs it. */
export type FileRow = {
  readonly name: RawPath;
  readonly stamp: string;
  readonly goneAt: number | null;
};

/** What is different between the journal's rows of a directory and its listing. */
export type ListingDifference<R extends FileRow> = {
  readonly appeared: readonly { readonly name: RawPath; readonly seen: Seen }[];
  /** Same name, another stamp. */
  readonly changed: readonly { readonly row: R; readonly seen: Seen }[];
  /** Was gone, and is back as it was. */
  readonly returned: readonly R[];
  readonly vanished: readonly R[];
};

/** Compares a directory's rows with all of its files. Pure; order does not matter. */
export function compare<R extends FileRow>(
  rows: readonly R[],
  files: readonly { readonly name: RawPath; readonly seen: Seen }[],
): ListingDifference<R> {
  const left = new Map(rows.map((row) => [row.name, row]));
  const appeared = [];
  const changed = [];
  const returned = [];
  for (const file of files) {
    const row = left.get(file.name);
    left.delete(file.name);
    if (!row) appeared.push(file);
    else if (!isSameStamp(row.stamp, file.seen.stamp)) changed.push({ row, seen: file.seen });
    else if (row.goneAt !== null) returned.push(row);
  }
  const vanished = [...left.values()].filter((row) => row.goneAt === null);
  return { appeared, changed, returned, vanished };
}
