import { bytesOf, type RawPath } from "../std/raw-path.ts";

/** Greater than every path: no file name holds this many 0xff, being limited to 255 bytes. */
const BEYOND = Buffer.alloc(256, 0xff);

/**
 * Bounds of the directories below `dir`: from the first, included, to the second, excluded. `dir`
 * itself is outside, but for the root, whose range is everything.
 */
export function rangeBelow(dir: RawPath): [from: Buffer, to: Buffer] {
  if (dir === "") return [Buffer.alloc(0), BEYOND];
  // "0" is the byte after "/".
  return [bytesOf(`${dir}/` as RawPath), bytesOf(`${dir}0` as RawPath)];
}
