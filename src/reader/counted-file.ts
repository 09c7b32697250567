import type { UploadFile } from "../archive/archive.ts";
import type { Clock } from "../std/clock.ts";

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
