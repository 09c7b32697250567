/**
 * The journal's disk fails, or its files are spoiled: one clear line and never a wrong send; then
 * `adopt`, or yesterday's backup, brings it all back without one duplicate.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { aProcess } from "../fixtures/a-process.ts";
import { audit } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { can, smallDisk } from "../fixtures/small-disk.ts";
import { until } from "../fixtures/until.ts";
import { SECRET, type World, aWorld } from "../fixtures/world.ts";
import { scanferry as inProcess } from "../unit/cli/in-process.ts";

const mounts = can("unshare", "-m", "true");
const traces = can("strace", "-o", "/dev/null", "true");

const scanferry = async (world: World, words: string[], within: string[] = []) => {
  const given = ["--config", world.configFile(), ...words];
  const ran = within.length === 0 ? await inProcess(given) : await processOf(given, within);
  expect(ran.stdout + ran.stderr).not.toContain(SECRET);
  return ran;
};

/** Within a command that refuses it the disk. */
async function processOf(words: string[], within: string[]) {
  await using process = aProcess(words, {}, within);
  return { code: await process.ended, ...process.output };
}

function drop(world: World, first: number, count: number): void {
  for (let n = first; n < first + count; n++) world.write(`scan-${n}.pdf`, pdfOf(1, { seed: n }));
}

/** The one line that says what is wrong with the journal. */
function clearLine({ code, stderr }: { code: unknown; stderr: string }): string {
  expect(code, stderr).toBe(1);
  const lines = stderr.trim().split("\n");
  expect(lines, stderr).toHaveLength(1);
  expect(lines[0], stderr).toMatch(/^scanferry: .*journal/);
  return lines[0] ?? "";
}

/** What is carried on or repaired fits together, each document once. */
async function whole(world: World, documents: number): Promise<void> {
  const { code, stdout, stderr } = await scanferry(world, ["sync"]);
  expect(code, stdout + stderr).toBe(0);
  expect(world.archive.documents()).toHaveLength(documents);
  expect(await audit(world)).toEqual([]);
}

describe("a disk that refuses: one line, exit 1, and the next pass carries on", () => {
  type Refusal = [string, (world: World) => Promise<void>, boolean, string];
  const strace = (call: string, error: string, when: string) => async (world: World) => {
    const inject = `inject=${call}:error=${error}:when=${when}`;
    const within = ["strace", "-qq", "-o", "/dev/null", "-e", `trace=${call}`, "-e", inject];
    clearLine(await scanferry(world, ["sync"], within));
  };
  const TABLE: Refusal[] = [
    [
      "EIO when it syncs",
      strace("fsync", "EIO", "12+"),
      traces,
      "nobody knows what is on the disk",
    ],
    ["EIO when it writes", strace("pwrite64", "EIO", "80+"), traces, "the same"],
    ["ENOSPC when it writes", strace("pwrite64", "ENOSPC", "90"), traces, "even if only once"],
    ["a full disk", full, mounts, "room comes back"],
    ["a disk that becomes read-only", readOnly, mounts, "as ext4 does after an error"],
    ["a limit of the file's size", limited, true, "EFBIG is no reason to crash"],
  ];

  async function full(world: World): Promise<void> {
    using disk = smallDisk(dirname(world.journal), "400k");
    drop(world, 100, 300);
    // In a process of its own, as what ends it has to be said and to be its exit code.
    expect(clearLine(await scanferry(world, ["sync"], ["env"]))).toMatch(/full|space/i);
    disk.remount("size=64m");
    await whole(world, 310);
    // What follows finds a journal on a disk that is there to stay.
    rmSync(world.source, { recursive: true });
    mkdirSync(world.source);
  }

  async function readOnly(world: World): Promise<void> {
    using disk = smallDisk(dirname(world.journal), "64m");
    await using daemon = aProcess(["--config", world.configFile(), "run"]);
    await until("ten", () => world.archive.documents().length === 10);
    // SQLite has its files open: the kernel refuses to remount while something is being written to.
    await daemon.end("SIGKILL");
    disk.remount("ro");
    drop(world, 100, 5);
    expect(clearLine(await scanferry(world, ["sync"]))).toMatch(/writable|read-only/);
    expect(world.archive.documents()).toHaveLength(10);
    disk.remount("rw");
    await whole(world, 15);
    rmSync(world.source, { recursive: true });
    mkdirSync(world.source);
  }

  async function limited(world: World): Promise<void> {
    drop(world, 100, 200);
    const within = ["sh", "-c", 'ulimit -f 400; exec "$@"', "sh"];
    clearLine(await scanferry(world, ["sync"], within));
  }

  test.for(TABLE)("$0, because $3", async ([, refuse, possible], { skip }) => {
    if (!possible) skip("not possible on this machine");
    await using world = await aWorld();
    drop(world, 0, 10);
    await refuse(world);
    if (existsSync(join(world.source, "scan-0.pdf"))) {
      await whole(world, existsSync(join(world.source, "scan-100.pdf")) ? 210 : 10);
    }
  });
});

test("spoiled files of the journal send nothing again; `adopt` and a backup fix them", async () => {
  await using world = await aWorld();
  const { journal } = world;
  drop(world, 0, 3);
  await whole(world, 3);
  const yesterday = join(world.dir, "yesterday.db");
  copyFileSync(journal, yesterday);
  drop(world, 3, 2);
  await whole(world, 5);
  const today = join(world.dir, "today.db");
  copyFileSync(journal, today);
  drop(world, 5, 1);

  const flip = (at: number) => {
    const file = openSync(journal, "r+");
    writeSync(file, Buffer.alloc(2_048, 0xa5), 0, 2_048, at);
    closeSync(file);
  };
  /** A journal's directory with this one alone; undefined: with none. */
  const holds = (copy?: string) => {
    rmSync(dirname(journal), { recursive: true, force: true });
    if (copy === undefined) return;
    mkdirSync(dirname(journal), { mode: 0o700 });
    copyFileSync(copy, journal);
  };

  const SPOILED: [string, () => void, RegExp][] = [
    ["nothing in it", () => writeFileSync(journal, ""), /empty/],
    ["cut in half", () => truncateSync(journal, statSync(journal).size / 2), /malformed|corrupt/],
    ["a page overwritten, as by a dying disk", () => flip(8_192), /page 3/],
    ["its head overwritten", () => flip(0), /database/],
    ["gone, with a log left", () => renameSync(journal, `${journal}-wal`), /-wal is not/],
  ];
  for (const [how, spoil, line] of SPOILED) {
    holds(today);
    spoil();
    expect(clearLine(await scanferry(world, ["sync"])), how).toMatch(line);
    expect(world.archive.documents(), how).toHaveLength(5);
  }

  // Gone, alone or with its directory, it holds what it cannot tell, and sends what is new.
  holds(today);
  rmSync(journal);
  for (const how of ["gone", "its directory gone"]) {
    const { code, stdout, stderr } = await scanferry(world, ["sync"]);
    expect(code, `${how}: ${stdout}${stderr}`).toBe(3);
    expect(world.archive.documents(), how).toHaveLength(6);
    holds();
  }

  // Without a backup.
  expect((await scanferry(world, ["adopt"])).code).toBe(0);
  await whole(world, 6);
  // With yesterday's: the archive knows more than it does.
  holds(yesterday);
  expect((await scanferry(world, ["adopt"])).stdout).toContain("3 claimed");
  await whole(world, 6);
});

describe("a log that is lost, or belongs to another file", () => {
  /** A world whose daemon was killed after it archived five documents; its log is as it left it. */
  async function killed(): Promise<World> {
    const world = await aWorld();
    drop(world, 0, 5);
    await using daemon = aProcess(["--config", world.configFile(), "run"]);
    await until("five", () => world.archive.documents().length === 5);
    await daemon.says(/(?:"converted"[\s\S]*){5}/);
    await daemon.end("SIGKILL");
    return world;
  }

  test("without its -shm it goes on: SQLite makes that again", async () => {
    await using world = await killed();
    rmSync(`${world.journal}-shm`);
    await whole(world, 5);
  });

  test("without its -wal, as in a copy of the file alone, it knows less than the archive, and holds instead of sending again", async () => {
    await using world = await killed();
    expect(readFileSync(`${world.journal}-wal`).length).toBeGreaterThan(0);
    rmSync(`${world.journal}-wal`);
    rmSync(`${world.journal}-shm`);
    const { code, stdout } = await scanferry(world, ["sync"]);
    expect(code, stdout).toBe(3);
    expect(stdout).toContain("FIRST_RUN");
    expect(world.archive.documents()).toHaveLength(5);
    expect((await scanferry(world, ["adopt"])).stdout).toContain("5 claimed");
    await whole(world, 5);
  });
});

test("the journal's directory vanishes while it runs: it ends, and what was archived is not sent again", async () => {
  await using world = await aWorld();
  drop(world, 0, 5);
  {
    await using daemon = aProcess(["--config", world.configFile(), "run"]);
    await until("five", () => world.archive.documents().length === 5);
    rmSync(dirname(world.journal), { recursive: true });
    expect(await daemon.ended).toBe(1);
    expect(daemon.output.stderr).toContain("was moved, removed or replaced while it was in use");
  }
  drop(world, 5, 2);
  // What it has yet to convert has no size to be known by.
  await world.archive.idle();
  expect((await scanferry(world, ["sync"])).code).toBe(3);
  expect(world.archive.documents()).toHaveLength(7);
  expect((await scanferry(world, ["adopt"])).stdout).toContain("5 claimed");
  await whole(world, 7);
});
