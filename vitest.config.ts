import { existsSync, statfsSync } from "node:fs";
import { configDefaults, defineConfig } from "vitest/config";

/** Where there is room in memory, tests wait for no disk. What is about disks makes its own. */
const MEMORY = "/dev/shm";
const ROOM_BYTES = 2 * 1024 ** 3;

/** Unit tests that change what belongs to a whole process: the time zone, the umask, its directory, a module. */
const OWN_PROCESS = [
  "test/unit/domain/hours.test.ts",
  "test/unit/daemon/schedule.test.ts",
  "test/unit/sync/pace.test.ts",
  "test/unit/embedded-archive/privacy.test.ts",
  "test/unit/journal/open-database.test.ts",
  "test/unit/source/directory-fd.test.ts",
  "test/unit/source/directory-watcher.test.ts",
  "test/unit/source/gone.test.ts",
  "test/unit/source/partial-listing.test.ts",
  "test/unit/source/top-watchers.test.ts",
  "test/unit/std/time-zone.test.ts",
];

function inMemory(): { TMPDIR?: string } {
  if (!existsSync(MEMORY)) return {};
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= ROOM_BYTES ? { TMPDIR: MEMORY } : {};
}

/** Sources that start a process or a thread from a file beside them. */
const STARTS_ANOTHER =
  /\/src\/((?:reader|source|embedded-archive)\/(?:fork-reader|pdf-thread|converter))\.ts$/;

export default defineConfig({
  plugins: [
    {
      // What a test's process starts is the built one, which starts in a third of the time: see scripts/fresh-build.ts.
      name: "built-beside",
      transform(code, id) {
        const [, path] = STARTS_ANOTHER.exec(id) ?? [];
        if (path === undefined) return null;
        const built = new URL(`dist/${path}.js`, import.meta.url).href;
        return code.replaceAll("import.meta.url", JSON.stringify(built));
      },
    },
  ],
  test: {
    env: inMemory(),
    globalSetup: "scripts/fresh-build.ts",
    // A test that hangs is reported late; a test that is slow because the machine is busy does not fail.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 100_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: [
            "test/unit/**/*.test.ts",
            "test/simulation/{simulation,two-archives,cluster,in-doubt}.test.ts",
          ],
          exclude: [...configDefaults.exclude, ...OWN_PROCESS],
          pool: "threads",
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "own process",
          include: OWN_PROCESS,
        },
      },
      {
        extends: true,
        test: {
          name: "contract",
          include: ["test/contract/**/*.test.ts"],
          isolate: false,
          globalSetup: "test/fixtures/once-a-run.ts",
        },
      },
      {
        extends: true,
        test: {
          name: "scenario",
          include: ["test/{scenario,browser}/**/*.test.ts", "test/simulation/every-await.test.ts"],
          // A worker's files share what it has loaded: to load it again takes longer than many a test.
          isolate: false,
          globalSetup: "test/fixtures/once-a-run.ts",
        },
      },
    ],
    // Scenarios mostly wait: for files to settle, for replies, for processes.
    maxWorkers: 5,
  },
});
