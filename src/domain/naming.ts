/**
 * Names and places in the archive. Local names are bytes of any kind; the archive takes at most 255
 * characters and forbids some (upload, rules of `filename`). What has to be fixed is fixed the
 * same way every time.
 */
import { type RawPath, bytesOf, partsOf, textOf } from "../std/raw-path.ts";
import { FORBIDDEN_IN_FILENAME, LIMITS } from "../wire/shapes.ts";

/** The name a file is sent under, and whether it had to be fixed. */
export type SentName = { readonly name: string; readonly fixed: boolean };

const FORBIDDEN = new RegExp(`${FORBIDDEN_IN_FILENAME.source}|\\p{Cc}`, "gu");

/**
 * A legal archive name for a local one: bytes that are not UTF-8 become `%XX`, forbidden and
 * control characters `_`, composed forms are used (NFC), and what is too long is cut before its
 * extension.
 */
export function sentNameOf(raw: RawPath): SentName {
  const text = textOf(raw) ?? percentEncoded(raw);
  const legal = text.normalize("NFC").replace(FORBIDDEN, "_");
  const name = shorten(/^(\s*|\.{1,2})$/u.test(legal) ? "document" : legal);
  return { name, fixed: name !== textOf(raw)?.normalize("NFC") };
}

/** Each byte that is not printable ASCII as `%XX`; ASCII stays. */
function percentEncoded(raw: RawPath): string {
  let out = "";
  for (const byte of bytesOf(raw)) {
    out +=
      byte >= 0x20 && byte < 0x7f
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return out;
}

/** Cuts the stem, keeps an extension of reasonable length, never splits a character in two. */
function shorten(name: string): string {
  if (name.length <= LIMITS.filename) return name;
  const dot = name.lastIndexOf(".");
  const extension = dot > 0 && name.length - dot <= 20 ? name.slice(dot) : "";
  let stem = name.slice(0, LIMITS.filename - extension.length);
  if (/[\ud800-\udbff]$/.test(stem)) stem = stem.slice(0, -1);
  return stem + extension;
}

/** Where a mirror puts its files: an archive folder path (`/` the root) or a folder's id. */
export type Target = { readonly path: string } | { readonly id: number };

/**
 * The archive folder of a local directory, as one string: `/Scans/2026`, or `#17/2026` below the
 * folder with id 17. The tree below the source is mirrored in full depth.
 */
export function targetPathOf(target: Target, dir: RawPath): string {
  const base = "id" in target ? `#${target.id}` : target.path.replace(/\/+$/, "");
  const below = partsOf(dir).map(folderNameOf);
  return below.length === 0 ? base || "/" : `${base}/${below.join("/")}`;
}

/** One part of a path as text: bytes that are not UTF-8 become `%XX`, composed forms are used. */
export function folderNameOf(part: RawPath): string {
  return (textOf(part) ?? percentEncoded(part)).normalize("NFC");
}

/** The inverse: the start (root or a folder's id) and the names to walk down from there. */
export function walkOf(targetPath: string): { fromId: number | null; names: string[] } {
  const names = targetPath.split("/").filter((name) => name !== "");
  const first = names[0];
  if (!targetPath.startsWith("#") || first === undefined) return { fromId: null, names };
  return { fromId: Number(first.slice(1)), names: names.slice(1) };
}
