/** One attempt to send one file: opens the snapshot, uploads it, and says what became of it. */
import type { Allowance, Archive, Fence, Upload, UploadFile } from "../archive/archive.ts";
import { ArchiveError } from "../archive/archive-error.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { Directories } from "../source/directories.ts";
import { openSnapshot } from "../source/file-snapshot.ts";
import type { SourceSettings } from "../source/source.ts";
import { systemClock, type Clock } from "../std/clock.ts";
import { codeOf, messageOf } from "../std/fault.ts";
import type { SendOrder } from "./protocol.ts";

/** What holds a request back, and what ends it. */
export type SendLimits = {
  readonly allowance: Allowance["take"];
  readonly directories?: Directories;
  /** Without it there is no end. */
  readonly fence?: Fence | undefined;
  /** Called now and then with the bytes of the file that were handed over. */
  readonly sent?: ((bytes: number) => void) | undefined;
};

/** No attempt is begun with less time than this: it could hardly be ended. */
const BEGIN_MS_MIN = 100;

/** Never rejects: every way an attempt can end is an `Outcome`. */
export async function send(
  archive: Archive,
  settings: SourceSettings,
  order: SendOrder,
  { allowance, fence, sent, directories }: SendLimits,
  signal: AbortSignal,
): Promise<Outcome> {
  let opened: Awaited<ReturnType<typeof openSnapshot>>;
  try {
    if (signal.aborted || (fence && fence.leftMs < BEGIN_MS_MIN)) return { kind: "released" };
    opened = await openSnapshot(settings, order.path, order, signal, directories);
  } catch (error) {
    return signal.aborted ? { kind: "released" } : (ofFile(error) ?? notOpened(error));
  }
  try {
    const file = sent ? countedFile(opened.file, sent, systemClock) : opened.file;
    const stored = await archive.upload(uploadOf(order, file, { allowance, fence }), signal);
    const { id: documentId, status = null, uploadedDate } = stored;
    return { kind: "accepted", documentId, status, uploadedDate };
  } catch (error) {
    if (error instanceof ArchiveError) return error.outcome;
    return ofFile(error) ?? lost(error);
  } finally {
    await opened.close();
  }
}

function uploadOf(
  order: SendOrder,
  file: Upload["file"],
  { allowance: take, fence }: SendLimits,
): Upload {
  const { pieceBytes } = order;
  return {
    folderId: order.folderId,
    filename: order.filename,
    batch: order.batch,
    metadata: order.metadata,
    ...(order.expireDate === null ? {} : { expireDate: order.expireDate }),
    file,
    // It was hashed when it was found whole, and what is sent is compared with that.
    sha256: () => order.digest,
    ...(pieceBytes === null ? {} : { allowance: { pieceBytes, take } }),
    ...(fence && { fence }),
  };
}

/** What the file did; undefined for anything else. */
function ofFile(error: unknown): Outcome | undefined {
  const code = codeOf(error);
  switch (code) {
    case "FILE_CHANGED":
      return { kind: "changed" };
    case "FILE_GONE":
      return { kind: "gone" };
    case "FILE_UNREADABLE":
    case "SOURCE_OFFLINE":
      return { kind: "unreadable", problem: { code, message: messageOf(error) } };
    default:
      return undefined;
  }
}

/** Nothing was begun yet, whatever went wrong. */
function notOpened(error: unknown): Outcome {
  const problem = { code: "FILE_UNREADABLE", message: messageOf(error) };
  return { kind: "unreadable", problem };
}

/** Neither the archive's nor the file's error: a bug or a lack of resources; it may have left. */
function lost(error: unknown): Outcome {
  return { kind: "inDoubt", problem: { code: "REPLY_LOST", message: messageOf(error) } };
}

/** A user who watches sees four updates a second at most. */
const EVERY_MS = 250;

/**
 * The same file; `sent` is called with the bytes that were handed over so far, now and then. A file in one piece
 * leaves too fast to be watched.
 */
export function countedFile(
  file: UploadFile,
  sent: (bytes: number) => void,
  clock: Pick<Clock, "monotonic">,
): UploadFile {
  if ("bytes" in file) return file;
  const { chunks, ...rest } = file;
  return {
    ...rest,
    async *chunks() {
      let bytes = 0;
      let toldAt = clock.monotonic();
      for await (const chunk of chunks()) {
        yield chunk;
        bytes += chunk.length;
        if (clock.monotonic() - toldAt < EVERY_MS) continue;
        toldAt = clock.monotonic();
        sent(bytes);
      }
    },
  };
}
