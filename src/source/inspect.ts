/**
 * A close look at one file: is it still what it was, is it finished by its own format, what is its
 * content's digest. What it answers holds for one and the same moment of the file: it is compared
 * before and after it was read, on the open file (a writer) and by its name (a replacement).
 */
import { hash, createHash } from "node:crypto";
import { type BigIntStats, closeSync, fstatSync } from "node:fs";
import type { Seen } from "../domain/document.ts";
import { isSameStamp } from "../domain/stamp.ts";
import { judge } from "../formats/complete.ts";
import { type Judgement, UNKNOWN, unfinished } from "../formats/completeness.ts";
import { GapFinder } from "../formats/gaps.ts";
import { type FileFormat, kindOf } from "../formats/file-format.ts";
import { countPages } from "../formats/count-pages.ts";
import { pdfPages } from "../formats/pdf.ts";
import { accessOf, beginningOf, type RandomAccess } from "../formats/random-access.ts";
import { nameOf, type RawPath, shown, textOf } from "../std/raw-path.ts";
import type { Directories } from "./directories.ts";
import { FileGone, fileFault, isSystemError, NotRegular, problemOf } from "./file-fault.ts";
import { openInside, statWithCompanion } from "./open-inside.ts";
import { ContentTag, TAGGED_BYTES_MIN } from "./known-contents.ts";
import type { NotesReader } from "./read-notes.ts";
import {
  accessOfFd,
  digestOf,
  type OpenBytes,
  pdfBytesIn,
  readSmall,
  CHUNK_BYTES,
} from "./read-file.ts";
import { bornAt, seenOf, wasRenamed } from "./seen.ts";
import type { Beginning, Inspection, SourceSettings } from "./source.ts";
import { SpareBuffers } from "./file-snapshot.ts";
import { sourceStatus } from "./source-status.ts";
import { DOWNLOAD_SUFFIXES, whyDownloading, whyHollow } from "./under-way.ts";
import { appendedPointer } from "../formats/tiff.ts";

/** Files up to this size are read in one go. */
const WHOLE_BYTES_MAX = 8 << 20;
const HEAD_BYTES = 4096;

/** For the next file that is read in one go. */
const spareBuffers = new SpareBuffers(4 << 20);

type OpenFile = {
  readonly fd: number;
  readonly path: RawPath;
  readonly stat: BigIntStats;
  readonly size: number;
  readonly network: boolean;
};

type Content = {
  readonly digest: string;
  readonly bytesRead: number;
  readonly judgement: Judgement;
  readonly pages: number | undefined;
  readonly beginning: Beginning | undefined;
};

/** Counts the pages of a PDF. */
export type PdfEngine = (bytes: OpenBytes) => Promise<number | undefined>;

type Options = {
  readonly pages: boolean;
  readonly engine?: PdfEngine;
  readonly notes?: NotesReader;
  readonly directories?: Directories | undefined;
  readonly sentBytes?: number | undefined;
};

/** What is asked of a content next to its digest. */
type Asked = {
  readonly pages: boolean;
  readonly engine: PdfEngine;
  readonly sentBytes: number | undefined;
};

/**
 * Looks closely at a file.
 *
 * @param expected what was seen of it; undefined: whatever it is now
 * @param options.pages whether to count the pages, where the kind of the file is one that can be
 * @param options.engine counts those of PDFs; absent: in this thread
 * @param options.notes reads what stands next to it; absent: nothing is looked for
 * @param options.directories opens what the file is in; absent: for each look
 * @param options.sentBytes of how many bytes the beginning is to be looked at on its own; absent: of none. The pages of
 * both are counted then: whether any was added is what people want to know of it
 * @throws only the signal's reason
 */
export async function inspect(
  settings: SourceSettings,
  path: RawPath,
  expected: Seen | undefined,
  options: Options,
  signal: AbortSignal,
): Promise<Inspection> {
  signal.throwIfAborted();
  try {
    const fd = openInside(settings.source, path, options.directories);
    try {
      return await inspectOpen(settings, path, fd, expected, options, signal);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    signal.throwIfAborted();
    return verdictOf(error, settings, path);
  }
}

async function inspectOpen(
  settings: SourceSettings,
  path: RawPath,
  fd: number,
  expected: Seen | undefined,
  options: Options,
  signal: AbortSignal,
): Promise<Inspection> {
  const stat = fstatSync(fd, { bigint: true });
  const before = seenOf(stat, settings.network);
  if (expected && !isSameStamp(expected.stamp, before.stamp))
    return { kind: "changed", seen: before };
  if (options.notes && settings.ready === "rename" && !wasRenamed(stat)) {
    const message = `${shown(path)} was written in place, not renamed into it`;
    return { kind: "waits", seen: before, problem: { code: "NOT_RENAMED", message } };
  }
  // Before the last look at the file: on a share that went away, notes look missing too.
  const notes = await options.notes?.of(path);
  if (notes?.kind === "waits") return { kind: "waits", seen: before, problem: notes.problem };
  const file = { fd, path, stat, size: before.sizeBytes, network: settings.network };
  const read = before.sizeBytes <= WHOLE_BYTES_MAX ? readWhole : readInChunks;
  const { sentBytes, engine = (bytes) => pdfPages(pdfBytesIn(bytes)) } = options;
  const pages = options.pages || sentBytes !== undefined;
  const content = await read(file, { pages, engine, sentBytes }, signal);
  const found = statWithCompanion(settings.source, path, DOWNLOAD_SUFFIXES, options.directories);
  if (!found) throw new FileGone(path);
  const there = seenOf(found.stat, settings.network);
  if (there.stamp !== before.stamp) return { kind: "changed", seen: there };
  const after = seenOf(fstatSync(fd, { bigint: true }), settings.network);
  if (after.stamp !== before.stamp || content.bytesRead !== before.sizeBytes)
    return { kind: "changed", seen: after };
  const { digest, judgement, beginning } = content;
  const born = bornAt(stat);
  return {
    kind: "whole",
    digest,
    seen: before,
    ...(found.companion === undefined ? judgement : unfinished(whyDownloading(found.companion))),
    ...(born === undefined ? {} : { bornAt: born }),
    ...(content.pages === undefined ? {} : { pages: content.pages }),
    ...(beginning === undefined ? {} : { beginning }),
    ...(notes ? { notes } : {}),
  };
}

async function readWhole(open: OpenFile, asked: Asked, signal: AbortSignal): Promise<Content> {
  const { fd, size, network } = open;
  const buffer = spareBuffers.take(size);
  try {
    const bytes = await readSmall(buffer.subarray(0, size), fd, network);
    signal.throwIfAborted();
    const finder = new GapFinder();
    finder.add(bytes);
    const digest = hash("sha256", bytes);
    if (bytes.length >= TAGGED_BYTES_MIN) new ContentTag().add(bytes).remember(digest);
    return {
      digest,
      bytesRead: bytes.length,
      ...(await learnt(accessOf(bytes), open, asked, { finder, signal })),
    };
  } finally {
    spareBuffers.giveBack(buffer);
  }
}

async function readInChunks(open: OpenFile, asked: Asked, signal: AbortSignal): Promise<Content> {
  const { fd, size } = open;
  const finder = new GapFinder();
  const tag = new ContentTag();
  const { digest, bytesRead } = await digestOf(fd, size, signal, (chunk) => {
    finder.add(chunk);
    tag.add(chunk);
  });
  tag.remember(digest);
  const file = accessOfFd(fd, size);
  return { digest, bytesRead, ...(await learnt(file, open, asked, { finder, signal })) };
}

/** What a content tells next to its digest. */
async function learnt(
  file: RandomAccess,
  open: OpenFile,
  { pages, engine, sentBytes }: Asked,
  { finder, signal }: { readonly finder: GapFinder; readonly signal: AbortSignal },
): Promise<Pick<Content, "judgement" | "pages" | "beginning">> {
  const judgement = await judged(file, open, finder);
  const counted = pages ? await pagesOf(file, open, engine) : undefined;
  if (sentBytes === undefined) return { judgement, pages: counted, beginning: undefined };
  const digest = await digestOfBeginning(file, sentBytes, signal);
  // The pages of a text are a guess: what grows by lines may have as many as before.
  const isCounted = (await kindIn(file, open.path)) !== "text";
  const before = isCounted ? await pagesOf(beginningOf(file, sentBytes), open, engine) : undefined;
  return { judgement, pages: counted, beginning: { digest, pages: before } };
}

/** A file that a judge of formats chokes on must not stop the files behind it. */
async function judged(
  file: RandomAccess,
  { fd, path, stat }: OpenFile,
  finder: GapFinder,
): Promise<Judgement> {
  try {
    const judgement = await judge(file, filenameOf(path), finder.end());
    const why = whyHollow(fd, stat, finder.zeroBytes);
    return why === undefined || judgement.completeness === "unfinished"
      ? judgement
      : unfinished(why);
  } catch (error) {
    if (isSystemError(error)) throw error;
    return UNKNOWN;
  }
}

/** The same goes for counting, whose answer is only good to know. */
async function pagesOf(
  file: RandomAccess,
  { fd, path }: OpenFile,
  engine: PdfEngine,
): Promise<number | undefined> {
  try {
    return await countPages(file, await kindIn(file, path), () => engine({ fd, size: file.size }));
  } catch (error) {
    if (isSystemError(error)) throw error;
    return undefined;
  }
}

async function kindIn(file: RandomAccess, path: RawPath): Promise<FileFormat> {
  return kindOf(await file.read(0, HEAD_BYTES), filenameOf(path));
}

/** For its extension; what is not UTF-8 is taken for Latin-1. */
function filenameOf(path: RawPath): string {
  const name = nameOf(path);
  return textOf(name) ?? name;
}

/** On a share that is not mounted every file looks gone. */
function verdictOf(error: unknown, settings: SourceSettings, path: RawPath): Inspection {
  const fault = fileFault(error, path);
  if (!(fault instanceof FileGone) && !(fault instanceof NotRegular))
    return { kind: "unreadable", problem: problemOf(fault) };
  const status = sourceStatus(settings);
  if (status.kind === "online") return { kind: "gone" };
  return { kind: "unreadable", problem: { code: "SOURCE_OFFLINE", message: status.why } };
}

/**
 * SHA-256, hex, of the first `size` bytes as they were before anything was appended: of a TIFF, without the pointer
 * to what was.
 */
async function digestOfBeginning(
  file: RandomAccess,
  size: number,
  signal: AbortSignal,
): Promise<string> {
  const hash = createHash("sha256");
  const add = async (from: number, to: number) => {
    for (let at = from; at < to; ) {
      const chunk = await file.read(at, Math.min(CHUNK_BYTES, to - at));
      signal.throwIfAborted();
      // It became shorter: anyone who asked finds that it is not as it was.
      if (chunk.length === 0) return;
      hash.update(chunk);
      at += chunk.length;
    }
  };
  const { from, to } = (await pointerIn(file, size)) ?? { from: size, to: size };
  await add(0, from);
  hash.update(Buffer.alloc(to - from));
  await add(to, size);
  return hash.digest("hex");
}

/** What a reader of TIFF chokes on is no page that was appended. */
async function pointerIn(file: RandomAccess, size: number): ReturnType<typeof appendedPointer> {
  try {
    return await appendedPointer(file, size);
  } catch (error) {
    if (isSystemError(error)) throw error;
    return undefined;
  }
}
