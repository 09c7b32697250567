import type { Archive } from "../archive/archive.ts";
import { ArchiveError } from "../archive/archive-error.ts";
import type { Clock } from "../std/clock.ts";
import type { Pace } from "./pace.ts";

/**
 * The same archive, left alone while it asked for a pause: what is asked of it then ends as
 * `notSent` with ARCHIVE_BUSY, at once. The pace gets what it answers.
 */
export function throttledArchive(archive: Archive, pace: Pace, clock: Clock): Archive {
  const patiently = async <T>(ask: () => Promise<T>): Promise<T> => {
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
  };
  return {
    search: (...all) => patiently(() => archive.search(...all)),
    documents: (...all) => patiently(() => archive.documents(...all)),
    digidoc: (...all) => patiently(() => archive.digidoc(...all)),
    document: (...all) => patiently(() => archive.document(...all)),
    folders: (...all) => patiently(() => archive.folders(...all)),
    folder: (...all) => patiently(() => archive.folder(...all)),
    upload: (...all) => patiently(() => archive.upload(...all)),
    get clockOffsetMs() {
      return archive.clockOffsetMs;
    },
    close: () => archive.close(),
    [Symbol.asyncDispose]: () => archive[Symbol.asyncDispose](),
  };
}
