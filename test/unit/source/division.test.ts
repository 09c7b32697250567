/** A source that several daemons divide: each looks at its own top directories alone. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isOwn, partOf } from "../../../src/domain/division.ts";
import { SourceOffline } from "../../../src/source/file-fault.ts";
import { listOne, scan } from "../../../src/source/scan.ts";
import { sourceStatus } from "../../../src/source/status.ts";
import { walk } from "../../../src/source/walk.ts";
import { DirectoryWatch } from "../../../src/source/watch.ts";
import { systemClock } from "../../../src/std/clock.ts";
import { type RawPath, ROOT } from "../../../src/std/raw-path.ts";
import { until } from "../../fixtures/until.ts";
import { bytesAt, never, put, raw, scratch, settingsOf } from "./scratch.ts";

const OF = 3;
const PARTS = [1, 2, 3];
const TOPS = Array.from({ length: 12 }, (_, at) => `top-${at}`);

const partly = (source: string, own: readonly number[], device: string | null = null) =>
  settingsOf(source, { division: { of: OF, own }, device });

/** A tree with files in the source itself, in every top directory, and below. */
function aTree(): string {
  const dir = scratch();
  put(dir, "in-the-source.pdf");
  for (const top of TOPS) {
    put(dir, `${top}/a.pdf`);
    put(dir, `${top}/2026/may/b.pdf`);
  }
  mkdirSync(bytesAt(dir, "\xe8\xff" as RawPath));
  writeFileSync(bytesAt(dir, "\xe8\xff/c.pdf" as RawPath), "");
  return dir;
}

async function scanned(
  source: string,
  own: readonly number[],
  known: ReadonlyMap<RawPath, string> = new Map(),
) {
  const found = new Map<RawPath, string>();
  const paths: string[] = [];
  const report = await scan(
    partly(source, own),
    known,
    ({ dir, fingerprint, files }) => {
      found.set(dir, fingerprint);
      paths.push(...files.map(({ name }) => `${dir}/${name}`));
    },
    never,
  );
  return { found, paths, ...report };
}

test("together they list everything, and nothing twice", async () => {
  const dir = aTree();
  const all = await scan(settingsOf(dir), new Map(), () => undefined, never);
  const each = await Promise.all(PARTS.map((part) => scanned(dir, [part])));
  const paths = each.flatMap((one) => one.paths);
  expect(paths).toHaveLength(all.files);
  expect(new Set(paths).size).toBe(paths.length);
  expect(each.map(({ files }) => files).reduce((sum, files) => sum + files)).toBe(all.files);
  for (const [at, { found, files }] of each.entries()) {
    expect(files, `part ${at + 1}`).toBeGreaterThan(0);
    expect([...found.keys()].every((listed) => partOf(listed, OF) === at + 1)).toBe(true);
  }
  expect(each.map(({ found }) => found.has(ROOT))).toEqual([true, false, false]);
  const two = await scanned(dir, [2, 3]);
  expect(two.paths.toSorted()).toEqual(
    [...(each[1]?.paths ?? []), ...(each[2]?.paths ?? [])].toSorted(),
  );
});

test("what went is told by whoever has its part, and what is another's never has", async () => {
  const dir = aTree();
  const all = await scanned(dir, PARTS);
  const gone = TOPS.slice(0, 6);
  for (const top of gone) rmSync(`${dir}/${top}`, { recursive: true });
  for (const part of PARTS) {
    // Also where it is remembered what another one listed.
    const { vanished } = await scanned(dir, [part], all.found);
    const own = gone.filter((top) => partOf(raw(top), OF) === part);
    expect(vanished.toSorted()).toEqual(
      own.flatMap((top) => [top, `${top}/2026`, `${top}/2026/may`]).toSorted(),
    );
  }
});

test("a source that is away, or a bare mount point, is recognised by each of them", async () => {
  const dir = aTree();
  const status = sourceStatus(settingsOf(dir));
  if (status.kind === "offline") throw new Error(status.why);
  const all = await scanned(dir, PARTS);
  const bare = scratch();
  for (const part of PARTS) {
    const settings = { ...partly(bare, [part]), device: status.device };
    await expect(scan(settings, all.found, () => undefined, never)).rejects.toThrow(SourceOffline);
    await expect(scanned(`${bare}/none`, [part], all.found)).rejects.toThrow(SourceOffline);
  }
});

test("one directory is listed, and walked for what lies aside, by its own part alone", async () => {
  const dir = aTree();
  for (const part of PARTS) {
    const settings = partly(dir, [part]);
    for (const listed of [ROOT, ...TOPS.map(raw)]) {
      expect(listOne(settings, listed) !== undefined).toBe(isOwn(settings.division, listed));
    }
    const others: string[] = [];
    for await (const { dir: at, others: names } of walk(settings, never)) {
      others.push(...names.map((name) => `${at}/${name}`));
    }
    expect(others.toSorted()).toEqual((await scanned(dir, [part])).paths.toSorted());
  }
});

test("each watches its own part, also top directories that come", async () => {
  const dir = aTree();
  const own = partOf(raw("top-0"), OF);
  const foreign = TOPS.find((top) => partOf(raw(top), OF) !== own) ?? "";
  const hinted = new Set<string>();
  const listed = new Set<string>();
  await using _watch = await DirectoryWatch.open(
    partly(dir, [own]),
    {
      hint: (paths) => paths.forEach((path) => hinted.add(path)),
      directory: (at) => listed.add(at),
      doubt: () => undefined,
    },
    systemClock,
  );
  const come = ["new-1", "new-2", "new-3", "new-4", "new-5", "new-6", "new-7", "new-8"];
  put(dir, `${foreign}/x.pdf`);
  for (const top of come) put(dir, `${top}/y.pdf`);
  put(dir, "top-0/z.pdf");
  const ours = come.filter((top) => partOf(raw(top), OF) === own);
  expect(ours.length, "some of them").toBeGreaterThan(0);
  await until(
    "what is ours",
    () => hinted.has("top-0/z.pdf") && ours.every((top) => listed.has(top)),
  );
  // Of an entry of the source itself the kernel does not say what it is: it may be a file of part 1.
  const deep = [...hinted].filter((path) => path.includes("/"));
  const theirs = [...deep, ...listed].filter(
    (path) => path !== ROOT && partOf(path as RawPath, OF) !== own,
  );
  expect(theirs).toEqual([]);
});
