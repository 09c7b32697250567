import { pipeline, Readable, type Transform } from "node:stream";
import { pieces, type RandomAccess } from "./random-access.ts";

/** Pieces of what is inflated: smaller ones take longer to hand over than to inflate. */
export const LARGE = { chunkSize: 256 << 10 } as const;

/**
 * What the bytes from `from` to `to` were before they were deflated; what is behind the end of the deflated data is
 * left alone.
 *
 * @param inflate a stream of `node:zlib` that was not used yet
 * @throws an error of zlib (`isDamage`); what `file.read` rejects with
 */
export async function* inflated(
  file: RandomAccess,
  from: number,
  to: number,
  inflate: Transform,
): AsyncGenerator<Buffer> {
  const deflated = Readable.from(bytesOf(pieces(file, from, to)));
  const closed = new Promise((resolve) => deflated.once("close", resolve));
  pipeline(deflated, inflate, () => {});
  try {
    yield* inflate;
  } finally {
    inflate.destroy();
    deflated.destroy();
    // The caller closes the file next, which must not happen under a read.
    await closed;
  }
}

async function* bytesOf(pieces: AsyncIterable<{ bytes: Buffer }>): AsyncGenerator<Buffer> {
  for await (const { bytes } of pieces) yield bytes;
}

/** Whether what was inflated is not what anyone deflated. */
export function isDamage(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("Z_");
}
