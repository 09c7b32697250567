import { createHash, randomBytes } from "node:crypto";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { expect, test } from "vitest";
import { CHUNK_BYTES, digestOf } from "../../../src/source/read-file.ts";
import { never, scratch } from "./scratch.ts";

/** What `digestOf` tells of a file, and the content that it hands over to someone who takes his time. */
async function digested(content: Buffer, size = content.length) {
  const file = join(scratch(), "file");
  writeFileSync(file, content);
  const fd = openSync(file, "r");
  const seen = createHash("sha256");
  const buffers = new Set<ArrayBufferLike>();
  try {
    const { digest, bytesRead } = await digestOf(fd, size, never, async (chunk) => {
      // By then the next chunk has been read.
      for (let tick = 0; tick < 20; tick++) await nextTick();
      seen.update(chunk);
      buffers.add(chunk.buffer);
    });
    return { digest, bytesRead, seen: seen.digest("hex"), buffers: buffers.size };
  } finally {
    closeSync(fd);
  }
}

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

test.for([
  [0, "an empty file"],
  [1, "less than a chunk"],
  [CHUNK_BYTES, "a chunk"],
  [CHUNK_BYTES + 1, "one byte more"],
  [5 * CHUNK_BYTES + 17, "many, and a short last one"],
] as const)("%i bytes are hashed and handed over whole: %s", async ([size]) => {
  const content = randomBytes(size);
  const { digest, seen, bytesRead, buffers } = await digested(content);
  expect({ digest, seen, bytesRead }).toEqual({
    digest: sha256(content),
    seen: sha256(content),
    bytesRead: size,
  });
  expect(buffers).toBeLessThanOrEqual(2);
});

test("a file that became shorter gives what is left of it", async () => {
  const content = randomBytes(2 * CHUNK_BYTES + 5);
  const { digest, bytesRead } = await digested(content, 4 * CHUNK_BYTES);
  expect({ digest, bytesRead }).toEqual({ digest: sha256(content), bytesRead: content.length });
});
