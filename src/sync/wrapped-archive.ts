import type { Archive } from "../archive/archive.ts";
import { ArchiveError } from "../archive/archive-error.ts";
import type { Clock } from "../std/clock.ts";
import type { Pace } from "./pace.ts";

/** The same archive; `around` is called for every request, and makes it. */
export function wrappedArchive(
  archive: Archive,
  around: <T>(ask: () => Promise<T>, signal: AbortSignal) => Promise<T>,
): Archive {
  return {
    search: (query, signal) => around(() => archive.search(query, signal), signal),
    documents: (query, signal) => around(() => archive.documents(query, signal), signal),
    digidoc: (query, signal) => around(() => archive.digidoc(query, signal), signal),
    document: (id, signal) => around(() => archive.document(id, signal), signal),
    folders: (query, signal) => around(() => archive.folders(query, signal), signal),
    folder: (id, signal) => around(() => archive.folder(id, signal), signal),
    upload: (upload, signal) => around(() => archive.upload(upload, signal), signal),
    get clockOffsetMs() {
      return archive.clockOffsetMs;
    },
    close: () => archive.close(),
    [Symbol.asyncDispose]: () => archive[Symbol.asyncDispose](),
  };
}

/**
 * The same archive, left alone while it asked for a pause: what is asked of it then ends as
 * `notSent` with ARCHIVE_BUSY, at once. The pace gets what it answers.
 */
export function throttledArchive(archive: Archive, pace: Pace, clock: Clock): Archive {
  return wrappedArchive(archive, async (ask) => {
    const { pauseMs } = pace;
    if (pauseMs > 0) {
      const message = `the archive asked to be left alone for ${Math.ceil(pauseMs / 1_000)} s more`;
      throw new ArchiveError("notSent", "ARCHIVE_BUSY", message, { retryAfterMs: pauseMs });
    }
    const begunAt = clock.monotonic();
    try {
      return await ask();
    } catch (error) {
      if (error instanceof ArchiveError) await pace.learn(error.outcome, begunAt);
      throw error;
    }
  });
}
