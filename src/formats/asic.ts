import { promisify } from "node:util";
import { crc32, inflateRaw } from "node:zlib";
import { type Entry, fromBufferPromise, getFileNameLowLevel, type ZipFile } from "yauzl";
import type { DataFiles } from "./data-files.ts";

const inflate = promisify(inflateRaw);

/** Entries looked at, signatures among them. */
const ENTRIES_MAX = 1000;
/** Above this size an entry that shrank by more than this factor is taken for a trap. Guesses. */
const RATIO_FREE_BYTES = 1024 * 1024;
const RATIO_MAX = 250;

const STORED = 0;
const DEFLATED = 8;

/** Adds the data files of a ZIP-based container: all but `mimetype` and what is in `META-INF/`. */
export async function listAsic(bytes: Buffer, files: DataFiles): Promise<void> {
  // Names stay bytes, for otherwise one bad name would end the whole list.
  const zip = await fromBufferPromise(bytes, { lazyEntries: true, decodeStrings: false });
  let entries = 0;
  for await (const entry of zip.eachEntry()) {
    entries += 1;
    if (entries > ENTRIES_MAX) break;
    const name = nameOf(entry);
    if (name === "mimetype" || /^META-INF\//i.test(name) || name.endsWith("/")) continue;
    const content = await contentOf(bytes, zip, entry, files.room);
    if (content) files.add(name, content);
  }
}

/** Many writers forget the flag that says UTF-8, so what can be UTF-8 is. */
function nameOf(entry: Entry): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(entry.fileNameRaw);
  } catch {
    const { generalPurposeBitFlag: flags, fileNameRaw, extraFields } = entry;
    return getFileNameLowLevel(flags, fileNameRaw, extraFields, true);
  }
}

/** The entry's content; undefined when it is damaged, encrypted, too large or suspicious. */
async function contentOf(
  bytes: Buffer,
  zip: ZipFile,
  entry: Entry,
  room: number,
): Promise<Buffer | undefined> {
  const { compressedSize, uncompressedSize, compressionMethod } = entry;
  if (entry.isEncrypted() || uncompressedSize > room) return undefined;
  if (uncompressedSize > RATIO_FREE_BYTES && uncompressedSize > compressedSize * RATIO_MAX)
    return undefined;
  try {
    const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
    const packed = bytes.subarray(fileDataStart, fileDataStart + compressedSize);
    const content = await unpacked(packed, compressionMethod, uncompressedSize);
    if (content?.length !== uncompressedSize || crc32(content) !== entry.crc32) return undefined;
    return content;
  } catch {
    // Damage in one entry leaves the others readable.
    return undefined;
  }
}

async function unpacked(packed: Buffer, method: number, size: number): Promise<Buffer | undefined> {
  // A copy, so that a small data file does not keep the whole container in memory.
  if (method === STORED) return Buffer.from(packed);
  if (method !== DEFLATED) return undefined;
  return inflate(packed, { maxOutputLength: Math.max(1, size) });
}
