import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { FSWatcher } from "chokidar";
import { expect, onTestFinished, test, vi } from "vitest";
import { DirectoryWatcher } from "../../../src/source/directory-watcher.ts";
import { SourceOffline } from "../../../src/source/file-fault.ts";
import { listOne, scan } from "../../../src/source/scan.ts";
import type { SourceSettings } from "../../../src/source/source.ts";
import { DirectorySweep } from "../../../src/source/sweep.ts";
import { DirectoryWatch, type WatchTiming } from "../../../src/source/watch.ts";
import { type Clock, systemClock } from "../../../src/std/clock.ts";
import { joinRaw, type RawPath, ROOT } from "../../../src/std/raw-path.ts";
import { until } from "../../fixtures/until.ts";
import { bytesAt, never, put, scratch, settingsOf } from "./scratch.ts";

/** Sweeps only when a test says so. */
const STILL: WatchTiming = { sweepMs: 3_600_000, beatMs: 3_600_000, stallMs: 2000 };

/** Collects what a watch tells, and lists directories as a reader would. */
class Told {
  readonly hints = new Set<string>();
  readonly listed: [dir: string, below: boolean][] = [];
  readonly files = new Set<string>();
  readonly doubts: string[] = [];
  readonly gone: string[] = [];
  readonly #settings: SourceSettings;
  #changed: () => void = () => {};

  constructor(settings: SourceSettings) {
    this.#settings = settings;
  }

  hint(paths: RawPath[]): void {
    for (const path of paths) {
      this.hints.add(path);
      this.files.add(path);
    }
    this.#changed();
  }

  directory(dir: RawPath, below: boolean): void {
    this.listed.push([dir, below]);
    void this.#list(dir, below)
      .catch((error: unknown) => {
        // A test that is over has removed its source.
        if (!(error instanceof SourceOffline)) throw error;
      })
      .finally(() => this.#changed());
  }

  vanished(dirs: RawPath[]): void {
    this.gone.push(...dirs);
    this.#changed();
  }

  doubt(why: string): void {
    this.doubts.push(why);
    this.#changed();
  }

  /** Waits until something holds; the test's own time limit ends it otherwise. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => (this.#changed = resolve));
  }

  async #list(dir: RawPath, below: boolean): Promise<void> {
    if (!below) {
      for (const { name } of listOne(this.#settings, dir)?.files ?? [])
        this.files.add(joinRaw(dir, name));
      return;
    }
    const learn = ({ dir, files }: { dir: RawPath; files: readonly { name: RawPath }[] }) => {
      for (const { name } of files) this.files.add(joinRaw(dir, name));
    };
    await scan(this.#settings, new Map(), learn, never, dir);
  }
}

async function watching(
  settings: SourceSettings,
  timing: WatchTiming = STILL,
  clock: Clock = systemClock,
): Promise<{ told: Told; watch: DirectoryWatch }> {
  const told = new Told(settings);
  const watch = await DirectoryWatch.open(settings, told, clock, timing);
  onTestFinished(() => watch.close());
  return { told, watch };
}

test("files written, changed, renamed into place and removed are named", async () => {
  const dir = scratch();
  put(dir, "a/b/old.pdf");
  put(dir, "a/b/gone.pdf");
  put(dir, "elsewhere.part", "moved in");
  put(dir, "other/waiting.pdf");
  const { told } = await watching(settingsOf(dir));
  writeFileSync(`${dir}/top.pdf`, "");
  writeFileSync(`${dir}/a/b/scan~`, "");
  writeFileSync(`${dir}/a/b/new.pdf`, "");
  appendFileSync(`${dir}/a/b/old.pdf`, "more");
  unlinkSync(`${dir}/a/b/gone.pdf`);
  renameSync(`${dir}/elsewhere.part`, `${dir}/a/b/placed.pdf`);
  renameSync(`${dir}/other/waiting.pdf`, `${dir}/a/b/waited.pdf`);
  const wanted = ["new", "old", "gone", "placed", "waited"].map((name) => `a/b/${name}.pdf`);
  await told.until(() =>
    [...wanted, "top.pdf", "other/waiting.pdf"].every((path) => told.hints.has(path)),
  );
  expect([...told.hints].filter((path) => path.endsWith("~"))).toEqual([]);
  expect(told.doubts).toEqual([]);
});

test("a thousand files in nested new directories: none is missed", async () => {
  const dir = scratch();
  mkdirSync(`${dir}/there`);
  const { told } = await watching(settingsOf(dir));
  const wanted: string[] = [];
  for (let index = 0; index < 1000; index++) {
    const top = index % 2 === 0 ? "there" : `new${index % 7}`;
    wanted.push(`${top}/x${index % 20}/y${index % 100}/f${index}.pdf`);
  }
  for (const path of wanted) put(dir, path);
  await told.until(() => wanted.every((path) => told.files.has(path)));
  expect(told.doubts).toEqual([]);
});

test("a tree that is moved in is listed whole, and one that is moved away is told", async () => {
  const dir = scratch();
  put(dir, "outside/tree/a/b/scan.pdf");
  put(dir, "source/x/y/old.pdf");
  const { told, watch } = await watching(settingsOf(`${dir}/source`));
  renameSync(`${dir}/outside/tree`, `${dir}/source/x/tree`);
  await told.until(() => told.files.has("x/tree/a/b/scan.pdf"));
  renameSync(`${dir}/source/x/y`, `${dir}/outside/y`);
  await told.until(() => told.listed.some(([at]) => at === "x/y" || at === "x"));
  // Its listing did not wait for its watch: what changes before that is in the later one.
  await until("word of a change", () => {
    appendFileSync(`${dir}/source/x/tree/a/b/scan.pdf`, "more");
    return told.hints.has("x/tree/a/b/scan.pdf");
  });
  expect(watch.directories).toBeGreaterThanOrEqual(4);
});

test("top directories that come, go and come again are watched", async () => {
  const dir = scratch();
  const { told } = await watching(settingsOf(dir));
  for (const round of ["1", "2"]) {
    mkdirSync(`${dir}/top`);
    await told.until(() => told.listed.filter(([at]) => at === "top").length > 0);
    // Only an event can name it: the directory was listed before.
    writeFileSync(`${dir}/top/${round}.pdf`, "");
    await told.until(
      () => told.hints.has(`top/${round}.pdf`) || told.files.has(`top/${round}.pdf`),
    );
    told.listed.length = 0;
    rmSync(`${dir}/top`, { recursive: true });
    await told.until(() => told.listed.some(([at]) => at === "top"));
    told.listed.length = 0;
  }
});

test.for([
  ["", "the source itself"],
  ["top", "a top directory"],
  ["top/below", "one below it"],
] as const)("'%s' is removed and made again in one go, %s, and listed", async ([at]) => {
  const dir = scratch();
  put(dir, `source/${at}/before.pdf`);
  const { told } = await watching(settingsOf(`${dir}/source`));
  rmSync(`${dir}/source/${at}`, { recursive: true });
  // Most often it gets the number of the one before: no sweep would tell them apart.
  put(dir, `source/${at}/after.pdf`);
  await told.until(() => [...told.files].some((path) => path.endsWith("after.pdf")));
});

test("names that are not UTF-8, which events garble, are found by a listing", async () => {
  const dir = scratch();
  mkdirSync(`${dir}/a`);
  const { told } = await watching(settingsOf(dir));
  writeFileSync(bytesAt(dir, "a/\xff.pdf" as RawPath), "");
  await told.until(() => told.files.has("a/\xff.pdf"));
  expect(told.listed).toContainEqual(["a", false]);
});

test("a source that is a link is watched; links in it are not followed", async () => {
  const dir = scratch();
  put(dir, "real/a/x");
  put(dir, "outside/y");
  symlinkSync("../outside", `${dir}/real/l`);
  symlinkSync("real", `${dir}/source`);
  const { told, watch } = await watching(settingsOf(`${dir}/source`));
  expect(watch.directories).toBe(2);
  writeFileSync(`${dir}/outside/secret.pdf`, "");
  writeFileSync(`${dir}/real/a/scan.pdf`, "");
  await told.until(() => told.hints.has("a/scan.pdf"));
  expect([...told.hints].filter((path) => path.includes("secret"))).toEqual([]);
});

test("directories that are left out are not watched, files that are not hinted", async () => {
  const dir = scratch();
  for (const path of ["@eaDir/a/x", ".git/objects/x", "done/y", "in/z"]) put(dir, path);
  const { told, watch } = await watching(
    settingsOf(dir, { without: ["done"], include: ["**/*.pdf"] }),
  );
  expect(watch.directories).toBe(2);
  for (const path of [
    "@eaDir/a/1.pdf",
    ".git/1.pdf",
    "in/.1.pdf",
    "done/1.pdf",
    "in/1.txt",
    "in/1.pdf",
  ])
    put(dir, path);
  await told.until(() => told.hints.has("in/1.pdf"));
  expect([...told.hints]).toEqual(["in/1.pdf"]);
});

test("what stands next to a document is a hint about the document", async () => {
  const dir = scratch();
  const { told } = await watching(settingsOf(dir, { sidecar: "optional", ready: "marker" }));
  for (const path of ["a.pdf.yaml", "b.pdf.done", "c.tmp.done"]) put(dir, path);
  await told.until(() => told.hints.has("a.pdf") && told.hints.has("b.pdf"));
  expect([...told.hints].sort()).toEqual(["a.pdf", "b.pdf"]);
});

test("a sweep finds what changed without an event", async () => {
  const dir = scratch();
  const blind = "\xe8" as RawPath;
  mkdirSync(bytesAt(dir, blind));
  mkdirSync(`${dir}/seen`);
  const { told, watch } = await watching(settingsOf(dir));
  expect(watch.directories).toBe(3);
  writeFileSync(bytesAt(dir, "\xe8/scan.pdf" as RawPath), "");
  mkdirSync(bytesAt(dir, "\xe8/new" as RawPath));
  writeFileSync(bytesAt(dir, "\xe8/new/deep.pdf" as RawPath), "");
  await watch.sweep();
  await told.until(() => told.files.has("\xe8/scan.pdf") && told.files.has("\xe8/new/deep.pdf"));
});

test("a source that cannot be opened for a moment is swept on as before", async () => {
  const dir = scratch();
  put(dir, "a/1");
  const sweeper = new DirectorySweep(settingsOf(dir), systemClock);
  await sweeper.learn(ROOT, never);
  renameSync(dir, `${dir}-away`);
  expect(await sweeper.sweep(never)).toEqual({ changed: [], replaced: [], added: [], gone: [] });
  renameSync(`${dir}-away`, dir);
  put(dir, "a/2");
  expect((await sweeper.sweep(never)).changed).toContain("a");
});

test("a sweep of a tree at rest tells nothing", async () => {
  const dir = scratch();
  for (const path of ["a/1", "a/b/2", "c/3"]) put(dir, path);
  // Long enough ago that no change can hide behind the same time stamp.
  await new Promise((resolve) => setTimeout(resolve, 60));
  const { told, watch } = await watching(settingsOf(dir));
  await watch.sweep();
  await watch.sweep();
  expect(told.listed).toEqual([]);
});

test.for([
  [0, 10_000, 4, "a sweep that takes no time costs nothing"],
  [10, 30_000, 3, "10 ms every 10 s are a tenth of a percent"],
  [50, 60_000, 2, "50 ms of a large tree every 50 s are as much"],
  [5_000, 130_000, 2, "a tree that takes for ever is swept once a minute all the same"],
] as const)("at rest a sweep of %d ms comes in %d ms %d times: %s", async ([takes, ms, times]) => {
  const { swept } = await sweepsOf(takes, ms, () => {});
  expect(swept.length).toBe(times);
});

test("an event brings the next sweep at once", async () => {
  const { swept } = await sweepsOf(100, 20_000, async (now, dir, told) => {
    if (now !== 12_600) return;
    writeFileSync(`${dir}/a/scan.pdf`, "");
    await told.until(() => told.hints.size > 0);
  });
  expect(swept).toEqual([2_500, 12_600]);
});

/** Lets `ms` pass next to a watch whose sweeps take `takes`; when they began. */
async function sweepsOf(
  takes: number,
  ms: number,
  meanwhile: (now: number, dir: string, told: Told) => void | Promise<void>,
) {
  const dir = scratch();
  mkdirSync(`${dir}/a`);
  const timing = { sweepMs: 2_500, beatMs: 3_600_000, stallMs: 2_000 };
  const swept: number[] = [];
  let now = 0;
  const passed = Promise.withResolvers<void>();
  const clock: Clock = {
    ...systemClock,
    monotonic: () => now,
    async sleep(each, signal) {
      if (each !== timing.sweepMs) return systemClock.sleep(each, signal);
      if (now + each > ms) {
        passed.resolve();
        return systemClock.sleep(3_600_000, signal);
      }
      now += each;
      await meanwhile(now, dir, told);
    },
  };
  const told = new Told(settingsOf(dir));
  const spy = vi.spyOn(DirectorySweep.prototype, "sweep");
  onTestFinished(() => spy.mockRestore());
  spy.mockImplementation(async () => {
    swept.push(now);
    now += takes;
    return { changed: [], replaced: [], added: [], gone: [] };
  });
  await using _watch = await DirectoryWatch.open(settingsOf(dir), told, clock, timing);
  await passed.promise;
  return { swept };
}

test("a process that stood still doubts what it saw", async () => {
  const dir = scratch();
  let now = 0;
  const clock: Clock = { ...systemClock, monotonic: () => now };
  const timing = { sweepMs: 3_600_000, beatMs: 5, stallMs: 2000 };
  const { told } = await watching(settingsOf(dir), timing, clock);
  now = 4000;
  await told.until(() => told.doubts.length > 0);
  expect(told.doubts).toEqual(["the process stood still for 3995 ms"]);
});

test("what stops every directory from being watched is one problem", async () => {
  const dir = scratch();
  for (const path of ["a/b", "c"]) mkdirSync(`${dir}/${path}`, { recursive: true });
  const add = vi.spyOn(DirectoryWatcher.prototype, "add");
  onTestFinished(() => add.mockRestore());
  add.mockImplementation(function (this: DirectoryWatcher, path) {
    const message = `EMFILE: too many open files, watch '${String(path)}'`;
    queueMicrotask(() => {
      this.emit("error", Object.assign(new Error(message), { code: "EMFILE" }));
      this.emit("ready");
    });
    return this;
  });
  const { watch } = await watching(settingsOf(dir));
  expect(watch.problem).toBe("EMFILE: too many open files");
});

test("what could not be watched is tried again, ever more rarely, and one after the other once it can be", async () => {
  const dir = scratch();
  for (const path of ["a", "b", "c"]) mkdirSync(`${dir}/${path}`);
  const add = vi.spyOn(DirectoryWatcher.prototype, "add");
  onTestFinished(() => add.mockRestore());
  let limit = 2;
  const limited = "the limit of watched directories is reached (fs.inotify.max_user_watches)";
  const tried: string[] = [];
  const watched: string[] = [];
  add.mockImplementation(function (this: DirectoryWatcher, path) {
    const at = String(path).slice(dir.length + 1);
    tried.push(at);
    if (["", "a", "b", "c"].indexOf(at) < limit) {
      this.once("ready", () => watched.push(at));
      return FSWatcher.prototype.add.call(this, path);
    }
    queueMicrotask(() => {
      this.emit("error", Object.assign(new Error("ENOSPC: no space"), { code: "ENOSPC" }));
      this.emit("ready");
    });
    return this;
  });
  let now = 0;
  const clock: Clock = { ...systemClock, monotonic: () => now };
  const { told, watch } = await watching(settingsOf(dir), STILL, clock);
  const triedAgain = async () => {
    now += 60_000;
    await watch.sweep();
    if (limit === 2) expect(watch.problem, "also while it is tried").toBe(limited);
    await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const triedFor = async (minutes: number) => {
    tried.length = 0;
    for (let at = 0; at < minutes; at++) await triedAgain();
    return tried.length;
  };
  expect(tried).toEqual(["", "a", "b", "c"]);
  expect(await triedFor(600)).toBeLessThan(20);
  expect(watch.problem).toBe(limited);
  limit = 4;
  put(dir, "b/meanwhile.pdf");
  tried.length = 0;
  await until("both to be tried", async () => {
    await triedAgain();
    return tried.length > 1 || undefined;
  });
  expect(tried.toSorted()).toEqual(["b", "c"]);
  await told.until(() => told.files.has("b/meanwhile.pdf"));
  // What is written before that is no event. Listings do not tell: those of the tries before are still due.
  await until("both to be watched", () => watched.includes("b") && watched.includes("c"));
  put(dir, "b/one.pdf");
  put(dir, "c/two.pdf");
  await told.until(() => told.hints.has("b/one.pdf") && told.hints.has("c/two.pdf"));
  expect(await triedFor(120), "all are watched").toBe(0);
  expect(watch.problem).toBeUndefined();
});

test("the source's own end is a doubt; a source that is not there cannot be watched", async () => {
  const dir = scratch();
  put(dir, "source/a/scan.pdf");
  const { told } = await watching(settingsOf(`${dir}/source`));
  rmSync(`${dir}/source`, { recursive: true });
  await told.until(() => told.doubts.length > 0);
  await expect(watching(settingsOf(`${dir}/source`))).rejects.toThrow(SourceOffline);
});

test("nothing is told after it was closed, twice if need be", async () => {
  const dir = scratch();
  mkdirSync(`${dir}/a`);
  const { told, watch } = await watching(settingsOf(dir));
  writeFileSync(`${dir}/a/late.pdf`, "");
  await Promise.all([watch.close(), watch.close()]);
  await new Promise((resolve) => setTimeout(resolve, 120));
  expect([...told.hints]).toEqual([]);
});
