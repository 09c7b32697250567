/** TIFFs that no well-meaning writer would make. */

/** A BigTIFF of `pages` directories, in either byte order, each with one strip of eight bytes. */
export function bigTiff(pages: number, order: "II" | "MM"): Buffer {
  const bytes = Buffer.alloc(16 + pages * PAGE_BYTES);
  const little = order === "II";
  const u16 = (value: number, at: number) =>
    little ? bytes.writeUInt16LE(value, at) : bytes.writeUInt16BE(value, at);
  const u64 = (value: number, at: number) =>
    little ? bytes.writeBigUInt64LE(BigInt(value), at) : bytes.writeBigUInt64BE(BigInt(value), at);
  bytes.write(order, 0, "latin1");
  u16(43, 2);
  u16(8, 4);
  u64(16 + 8, 8);
  for (let page = 0; page < pages; page++) {
    const data = 16 + page * PAGE_BYTES;
    const at = data + 8;
    u64(2, at);
    for (const [index, [tag, value]] of [[273, data] as const, [279, 8] as const].entries()) {
      const field = at + 8 + index * 20;
      u16(tag, field);
      u16(16, field + 2);
      u64(1, field + 4);
      u64(value, field + 12);
    }
    u64(page + 1 < pages ? at + PAGE_BYTES : 0, at + 8 + 40);
  }
  return bytes;
}

/** Data, the number of fields, two fields, the next directory's place. */
const PAGE_BYTES = 8 + 8 + 40 + 8;

/**
 * A TIFF whose header points to the first of `links`, the directory there to the second, and so on.
 * Each directory holds its NewSubfileType, or the field of `tag` and `type` in its place, and no image;
 * directories take 18 bytes.
 */
export function linked(
  links: readonly number[],
  subfileTypes: readonly number[] = [],
  [tag, type]: readonly [number, number] = [254, 4],
): Buffer {
  const bytes = Buffer.alloc(Math.max(...links) + 18);
  bytes.write("II*\0", 0, "latin1");
  bytes.writeUInt32LE(links[0] ?? 0, 4);
  for (const [index, at] of links.slice(0, -1).entries()) {
    bytes.writeUInt16LE(1, at);
    bytes.writeUInt16LE(tag, at + 2);
    bytes.writeUInt16LE(type, at + 4);
    bytes.writeUInt32LE(1, at + 6);
    bytes.writeUInt32LE(subfileTypes[index] ?? 0, at + 10);
    bytes.writeUInt32LE(links[index + 1] ?? 0, at + 14);
  }
  return bytes;
}

/** A TIFF of so many bytes, each of them a strip's place, and its length, and a tile's. */
export function crowded(size: number): Buffer {
  const bytes = Buffer.alloc(size, 1);
  bytes.write("II*\0", 0, "latin1");
  bytes.writeUInt32LE(8, 4);
  bytes.writeUInt16LE(6, 8);
  for (const [index, tag] of [273, 279, 324, 325, 513, 514].entries()) {
    const field = 10 + index * 12;
    bytes.writeUInt16LE(tag, field);
    bytes.writeUInt16LE(1, field + 2);
    bytes.writeUInt32LE(size - 200, field + 4);
    bytes.writeUInt32LE(100, field + 8);
  }
  bytes.writeUInt32LE(0, 10 + 6 * 12);
  return bytes;
}
