/** Files that come back to where they were, or to another place of their source, in many ways. */
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Mirror } from "../../src/config/config.ts";
import { aDaemon } from "../fixtures/a-daemon.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { can, smallDisk } from "../fixtures/small-disk.ts";
import { aWorld } from "../fixtures/world.ts";

const canMount = process.getuid?.() === 0 && can("unshare", "--mount", "true");

/** What people do in a directory whose `scans` are the source; paths are below it. */
type Hands = {
  readonly at: (path: string) => string;
  readonly write: (path: string, seed: number) => void;
  readonly move: (from: string, to: string) => void;
  /** As a restore does it: another file with the same time. */
  readonly copy: (from: string, to: string) => void;
  /** A whole pass over the source. */
  readonly sync: (mirror?: Partial<Mirror>) => Promise<void>;
};

/** How many documents the archive has after that. */
async function archivedAfter(work: (hands: Hands) => Promise<void>): Promise<number> {
  await using world = await aWorld({ folders: ["/Scans/in", "/Scans/2026"] });
  const at = (path: string) => join(world.dir, path);
  const placing = (act: (from: string, to: string) => void) => (from: string, to: string) => {
    mkdirSync(dirname(at(to)), { recursive: true });
    act(at(from), at(to));
  };
  await work({
    at,
    write: (path, seed) => void world.write(path, pdfOf(1, { seed })),
    move: placing(renameSync),
    copy: placing((from, to) => cpSync(from, to, { recursive: true, preserveTimestamps: true })),
    async sync(mirror) {
      await using live = await aDaemon(world.config({}, mirror));
      await live.idle();
    },
  });
  return world.archive.documents().length;
}

const movingTo = (to: string) => ({ after: { kind: "move", to } }) as const;
const DELETING = { after: { kind: "delete" } } as const;

test.for<[string, number, (hands: Hands) => Promise<void>]>([
  [
    "moved out, its name used by another, moved back",
    2,
    async ({ write, move, sync }) => {
      write("in/scan.pdf", 1);
      await sync();
      move("scans/in/scan.pdf", "out.pdf");
      write("in/scan.pdf", 2);
      await sync();
      move("out.pdf", "scans/in/scan.pdf");
      await sync();
    },
  ],
  [
    "moved out, its name used by another, restored from a backup with its time",
    2,
    async ({ write, copy, sync }) => {
      write("in/scan.pdf", 1);
      copy("scans/in/scan.pdf", "backup.pdf");
      await sync();
      write("in/scan.pdf", 2);
      await sync();
      copy("backup.pdf", "scans/in/scan.pdf");
      await sync();
    },
  ],
  [
    "edited, its folder rolled back to a snapshot, and forward again",
    2,
    async ({ at, write, move, copy, sync }) => {
      write("in/scan.pdf", 1);
      await sync();
      move("scans/in", "snapshot");
      copy("snapshot", "scans/in");
      write("in/scan.pdf", 2);
      await sync();
      move("scans/in", "later");
      move("snapshot", "scans/in");
      await sync();
      rmSync(at("scans/in"), { recursive: true });
      move("later", "scans/in");
      await sync();
    },
  ],
  [
    "moved or deleted, its name used by another that is moved or deleted too, moved back",
    2,
    async ({ at, write, move, sync }) => {
      const after = movingTo(at("done"));
      write("in/scan.pdf", 1);
      await sync(after);
      move("done/in/scan.pdf", "out.pdf");
      write("in/scan.pdf", 2);
      await sync(after);
      move("out.pdf", "scans/in/scan.pdf");
      await sync(after);
      expect(existsSync(at("scans/in/scan.pdf")), "it is moved or deleted again").toBe(false);
    },
  ],
  [
    "moved or deleted, and moved back into another folder",
    1,
    async ({ at, write, move, sync }) => {
      const after = movingTo(at("done"));
      write("in/scan.pdf", 1);
      await sync(after);
      move("done/in/scan.pdf", "scans/2026/invoice.pdf");
      await sync(after);
      expect(existsSync(at("done/2026/invoice.pdf")), "it is moved or deleted again").toBe(true);
    },
  ],
  [
    "moved or deleted within the source, sorted there, and seen since files are kept",
    1,
    async ({ at, write, move, sync }) => {
      write("in/scan.pdf", 1);
      await sync({ ...movingTo(at("scans/done")), exclude: ["done/**"] });
      move("scans/done/in/scan.pdf", "scans/2026/invoice.pdf");
      await sync();
      expect(existsSync(at("scans/2026/invoice.pdf"))).toBe(true);
    },
  ],
  [
    "moved or deleted, and copied back: a document of its own",
    2,
    async ({ at, write, copy, sync }) => {
      write("in/scan.pdf", 1);
      await sync(movingTo(at("done")));
      copy("done/in/scan.pdf", "scans/2026/copy.pdf");
      await sync(movingTo(at("done")));
    },
  ],
  [
    "deleted, and restored from a backup",
    1,
    async ({ at, write, copy, sync }) => {
      write("in/scan.pdf", 1);
      copy("scans/in/scan.pdf", "backup.pdf");
      await sync(DELETING);
      copy("backup.pdf", "scans/in/scan.pdf");
      await sync(DELETING);
      expect(existsSync(at("scans/in/scan.pdf")), "it is deleted again").toBe(false);
    },
  ],
  [
    "deleted, and restored to another place: a document of its own",
    2,
    async ({ write, copy, sync }) => {
      write("in/scan.pdf", 1);
      copy("scans/in/scan.pdf", "backup.pdf");
      await sync(DELETING);
      copy("backup.pdf", "scans/2026/restored.pdf");
      await sync(DELETING);
    },
  ],
])("%s", async ([, documents, work]) => {
  expect(await archivedAfter(work)).toBe(documents);
});

test.runIf(canMount).for<[string, number, (hands: Hands) => Promise<void>]>([
  [
    "another file system is mounted over its folder, and away",
    2,
    async ({ at, write, sync }) => {
      write("in/scan.pdf", 1);
      await sync();
      {
        using _disk = smallDisk(at("scans/in"), "1m");
        write("in/scan.pdf", 2);
        await sync();
      }
      await sync();
    },
  ],
])("%s", async ([, documents, work]) => {
  expect(await archivedAfter(work)).toBe(documents);
});
