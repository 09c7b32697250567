import { createHash } from "node:crypto";
import type { RandomAccess } from "../formats/random-access.ts";
import { appendedPointer } from "../formats/tiff.ts";
import { isSystemError } from "./file-fault.ts";
import { CHUNK_BYTES } from "./read-file.ts";

/**
 * SHA-256, hex, of the first `size` bytes as they were before anything was appended: of a TIFF, without the pointer
 * to what was.
 */
export async function digestOfBeginning(
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
