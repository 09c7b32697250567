import { createHash, randomBytes } from "node:crypto";
import { closeSync, openSync, writeFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTick, setTimeout as passed } from "node:timers/promises";
import { expect, test, describe } from "vitest";
import { CHUNK_BYTES, digestOf } from "../../../src/source/read-file.ts";
import { never, scratch, put, raw, settingsOf } from "./scratch.ts";
import { NotesReader } from "../../../src/source/read-notes.ts";
import { array, assert, constant, integer, oneof, property } from "fast-check";
import { SpareBuffers } from "../../../src/source/file-snapshot.ts";

describe("read file", () => {
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
});

/** When a marker counts for its document. */
describe("read notes", () => {
  const PATH = raw("scan.pdf");
  const OLD_S = 1_000_000_000;

  /** Longer than a tick of the kernel's clock. */
  const tick = () => passed(30);

  function marked(source: string, network = false) {
    const settings = settingsOf(source, { ready: "marker", network });
    return new NotesReader(settings, Date.now()).of(PATH);
  }

  const older = {
    kind: "waits",
    problem: { code: "MARKER_MISSING", message: "scan.pdf.done is older than the document" },
  };

  test("a document without its marker waits, one with it does not", async () => {
    const source = scratch();
    put(source, "scan.pdf");
    expect(await marked(source)).toMatchObject({
      kind: "waits",
      problem: { code: "MARKER_MISSING" },
    });
    put(source, "scan.pdf.done");
    expect(await marked(source)).toMatchObject({ kind: "notes" });
  });

  test.for([[false], [true]])(
    "written again, it waits for its marker to be; on a network file system: %s",
    async ([network]) => {
      const source = scratch();
      const document = put(source, "scan.pdf");
      await tick();
      const marker = put(source, "scan.pdf.done");
      expect(await marked(source, network)).toMatchObject({ kind: "notes" });
      await tick();
      writeFileSync(document, "half of the next one");
      expect(await marked(source, network)).toEqual(older);
      await tick();
      const now = new Date();
      utimesSync(marker, now, now);
      expect(await marked(source, network)).toMatchObject({ kind: "notes" });
    },
  );

  describe.for([
    ["both copied with their times", OLD_S, OLD_S - 60, "its ctime says when it was copied"],
    ["a document whose time was set to come", 4_000_000_000, OLD_S, "nothing was written then"],
  ] as const)("%s", ([, documentS, markerS, because]) => {
    test.for([
      [false, "notes", because],
      [true, "waits", "ctimes of a network file system change on their own"],
    ] as const)("on a network file system %s: %s, because %s", async ([network, kind]) => {
      const source = scratch();
      utimesSync(put(source, "scan.pdf"), documentS, documentS);
      await tick();
      utimesSync(put(source, "scan.pdf.done"), markerS, markerS);
      expect(await marked(source, network)).toMatchObject({ kind });
    });
  });

  test.for([
    [0, "waits", "it was written just now"],
    [2_000, "waits", "it was written just now, by the clock of a share that runs ahead"],
    [-10_000, "notes", "it has been quiet for `settle`"],
    [3_600_000, "notes", "that clock says nothing"],
  ] as const)("a sidecar dated %i ms from now: %s, for %s", async ([aheadMs, kind]) => {
    const source = scratch();
    const now = Date.now();
    const at = new Date(now + aheadMs);
    put(source, "scan.pdf");
    const sidecar = put(source, "scan.pdf.yaml");
    writeFileSync(sidecar, "title: Rent\n");
    utimesSync(sidecar, at, at);
    const settings = settingsOf(source, { sidecar: "required", settleMs: 10_000 });
    expect(await new NotesReader(settings, now).of(PATH)).toMatchObject({ kind });
  });

  test.for(["yaml", "YAML", "YML"])("a sidecar may end in .%s", async (ending) => {
    const source = scratch();
    put(source, "scan.pdf");
    writeFileSync(put(source, `scan.pdf.${ending}`), "title: Rent\n");
    const settings = settingsOf(source, { sidecar: "optional" });
    const found = { sidecar: { metadata: { title: "Rent" } }, sidecarRead: { ending } };
    expect(await new NotesReader(settings, Date.now()).of(PATH)).toMatchObject(found);
  });

  test("next to the longest of names there can be neither, and nothing is wrong with the file", async () => {
    const source = scratch();
    const path = raw(`${"x".repeat(251)}.pdf`);
    put(source, path);
    const read = async (set: object) =>
      new NotesReader(settingsOf(source, set), Date.now()).of(path);
    expect(await read({ sidecar: "optional" })).toEqual({ kind: "notes", sidecar: null });
    const waits = (code: string) => ({ kind: "waits", problem: { code } });
    expect(await read({ sidecar: "required" })).toMatchObject(waits("SIDECAR_MISSING"));
    expect(await read({ ready: "marker" })).toMatchObject(waits("MARKER_MISSING"));
  });

  test("of the same moment it counts: times may be coarse", async () => {
    const source = scratch();
    for (const name of ["scan.pdf", "scan.pdf.done"]) utimesSync(put(source, name), OLD_S, OLD_S);
    expect(await marked(source, true)).toMatchObject({ kind: "notes" });
  });
});

describe("spare buffers", () => {
  const MB = 1 << 20;

  test("what was given back is lent again, to anyone who it is large enough for", () => {
    const buffers = new SpareBuffers(4 * MB);
    const first = buffers.take(300_000);
    expect(first.length).toBe(512 * 1024);
    buffers.giveBack(first);
    const other = buffers.take(600_000);
    expect(other).not.toBe(first);
    expect(buffers.take(500_000)).toBe(first);
  });

  test("no buffer has two users, and no more is kept than was said", () => {
    const lengths = integer({ min: 0, max: 5 * MB });
    const steps = array(oneof(lengths, constant("back" as const)), { maxLength: 40 });
    assert(
      property(steps, (all) => {
        const keepMax = 4 * MB;
        const buffers = new SpareBuffers(keepMax);
        const lent = new Set<Buffer>();
        const known = new Set<Buffer>();
        for (const step of all) {
          if (step !== "back") {
            const buffer = buffers.take(step);
            expect(buffer.length).toBeGreaterThanOrEqual(step);
            expect(lent.has(buffer)).toBe(false);
            lent.add(buffer);
            known.add(buffer);
            continue;
          }
          const [oldest] = lent;
          if (!oldest) continue;
          lent.delete(oldest);
          buffers.giveBack(oldest);
        }
        for (const each of lent) buffers.giveBack(each);
        let kept = 0;
        for (let buffer = buffers.take(0); known.has(buffer); buffer = buffers.take(0))
          kept += buffer.length;
        expect(kept).toBeLessThanOrEqual(keepMax);
      }),
      { numRuns: 60 },
    );
  });
});
