import { completenessOfGif, completenessOfHeic, completenessOfWebp } from "./complete-container.ts";
import { completenessOfJpeg } from "./complete-jpeg.ts";
import { completenessOfPdf } from "./complete-pdf.ts";
import { completenessOfZip } from "./complete-zip.ts";
import type { Completeness } from "./completeness.ts";
import { breaksPromise, isZip, type Kind, kindOf } from "./kind.ts";
import type { RandomAccess } from "./random-access.ts";
import { readTiff } from "./tiff.ts";

const HEAD_BYTES = 4096;
/** Bytes of padding or garbage behind an end mark that are put up with. */
const TRAILER_BYTES = 1024;
/** More zeros at the end than padding makes. */
const ZERO_BYTES = 4096;

/**
 * Whether the file is finished by its own format: whoever writes it may still be at work.
 *
 * Reads a few pieces only, however large the file is. It judges the structure, not the content: a
 * complete file may still be damaged inside. Rejects only with what `file.read` rejects with.
 */
export async function completeness(file: RandomAccess, filename: string): Promise<Completeness> {
  if (file.size === 0) return "unfinished";
  const head = await file.read(0, HEAD_BYTES);
  const kind = kindOf(head, filename);
  if (breaksPromise(kind, filename)) return "unfinished";
  const judged = (await JUDGES[kind]?.(file, head)) ?? "unknown";
  if (MAY_END_IN_ZEROS.has(kind)) return judged;
  return judged !== "unfinished" && (await endsInZeros(file)) ? "unfinished" : judged;
}

/**
 * Copy programs set all space aside first, which reads as zeros until the data come; of a TIFF the head may
 * be there by then and tell where they will be. What is of no known format may be meant to end so.
 */
async function endsInZeros(file: RandomAccess): Promise<boolean> {
  return (await tailOf(file, ZERO_BYTES)).every((byte) => byte === 0);
}

/** A bitmap's last rows may be black. */
const MAY_END_IN_ZEROS: ReadonlySet<Kind> = new Set<Kind>(["bmp", "unknown"]);

type Judge = (file: RandomAccess, head: Buffer) => Promise<Completeness>;

const JUDGES: Partial<Record<Kind, Judge>> = {
  pdf: completenessOfPdf,
  tiff: completenessOfTiff,
  jpeg: completenessOfJpeg,
  png: completenessOfPng,
  gif: completenessOfGif,
  webp: completenessOfWebp,
  heic: completenessOfHeic,
  zip: completenessOfZip,
  digidoc: completenessOfZip,
  // OLE's own table of sectors would take the whole file to check; RTF has no end to speak of.
  office: async (file, head) => (isZip(head) ? completenessOfZip(file) : "unknown"),
  ddoc: completenessOfDdoc,
};

async function completenessOfTiff(file: RandomAccess): Promise<Completeness> {
  const { state } = await readTiff(file, true);
  if (state === "limit") return "unknown";
  return state === "whole" ? "complete" : "unfinished";
}

/** The end chunk: no data, its name, its checksum. No other chunk can look like it. */
const PNG_END = Buffer.from("0000000049454e44ae426082", "hex");

async function completenessOfPng(file: RandomAccess): Promise<Completeness> {
  const tail = await tailOf(file, TRAILER_BYTES + PNG_END.length);
  return tail.includes(PNG_END) ? "complete" : "unfinished";
}

/** The data of a DDOC are base64, so a closing tag inside the tail is the document's own. */
async function completenessOfDdoc(file: RandomAccess): Promise<Completeness> {
  const tail = await tailOf(file, TRAILER_BYTES);
  const closed = /<\/(?:[\w.-]+:)?SignedDoc\s*>\s*\0*$/.test(tail.toString("latin1"));
  return closed ? "complete" : "unfinished";
}

async function tailOf(file: RandomAccess, length: number): Promise<Buffer> {
  const from = Math.max(0, file.size - length);
  return file.read(from, file.size - from);
}
