import { cp, mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { codeOf, Fault } from "../../std/fault.ts";
import { makeDirectory } from "../../std/make-directory.ts";
import { buildConfig, type Config, type FileShape } from "../../config/config.ts";
import { ConfigProblems } from "../../config/config-problems.ts";
import { sketchIn } from "../../config/load-config.ts";

/** Next to `src` or `dist`, as the package ships them. */
const SAMPLES = fileURLToPath(new URL("../../../samples", import.meta.url));

/** Where the demonstration keeps its things: the folder of scans, the journal, the archive. */
export class DemoPlace implements AsyncDisposable {
  readonly inbox: string;
  readonly journal: string;
  readonly archive: string;
  /** The folders of the folder of scans, `""` the top: what the archive has to have. */
  readonly folders: readonly string[];
  readonly #root: string;
  readonly #leave: ((line: string) => Promise<void>) | undefined;

  private constructor(
    root: string,
    folders: readonly string[],
    leave: ((line: string) => Promise<void>) | undefined,
  ) {
    this.#root = root;
    this.#leave = leave;
    this.inbox = join(root, "scans");
    this.journal = join(root, "journal.db");
    this.archive = join(root, "archive");
    this.folders = folders;
  }

  /**
   * Copies the samples into `data`, or into a new temporary directory. That one goes away with this, unless it holds
   * anything but the samples: then it stays, and `say` is given where it is. Rejects with DEMO_UNWRITABLE where the disk
   * does not take them.
   */
  static async open(
    data: string | undefined,
    cwd: string,
    say: (line: string) => Promise<void>,
  ): Promise<DemoPlace> {
    try {
      const root =
        data === undefined
          ? await mkdtemp(join(await realpath(tmpdir()), "scanferry-demo-"))
          : resolve(cwd, data);
      const inbox = join(root, "scans");
      // Files that are there already are the visitor's: not overwritten, not sent a second time.
      // Before `cp`, which makes what is missing with Node's recursive `mkdir`.
      makeDirectory(inbox);
      const options = { recursive: true, force: false, preserveTimestamps: true };
      await cp(SAMPLES, inbox, options);
      const folders = await foldersOf(inbox);
      return new DemoPlace(root, folders, data === undefined ? say : undefined);
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined) throw error;
      const where = data ?? tmpdir();
      throw new Fault(
        "DEMO_UNWRITABLE",
        `cannot set up the demonstration in ${where} (${code})`,
        "Give a writable directory with --data.",
        { cause: error },
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#leave === undefined) return;
    // The archive's copy goes with the directory, and a document may have been moved here.
    const own = await ownIn(this.inbox);
    if (own === undefined) return rm(this.#root, { recursive: true, force: true });
    await this.#leave(
      `${this.#root} stays, because documents of yours are in it, such as scans/${own}. Delete it when you do not need them.`,
    );
  }
}

/** The path of a file that is not a sample as it was copied; undefined where there is none. */
async function ownIn(inbox: string): Promise<string | undefined> {
  const entries = await readdir(inbox, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (entry.isDirectory()) continue;
    const path = join(entry.parentPath, entry.name);
    const below = relative(inbox, path);
    const isSample = await isSame(path, join(SAMPLES, below)).catch(() => false);
    if (!isSample) return below;
  }
  return undefined;
}

async function isSame(a: string, b: string): Promise<boolean> {
  return (await readFile(a)).equals(await readFile(b));
}

async function foldersOf(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const folders = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length));
  return ["", ...folders.sort()];
}

/** A configuration that shows soon what happens; everything else is as by default. */
export function demoConfig(options: {
  place: DemoPlace;
  url: string;
  target: string;
  port: number;
}): Config {
  const { place, url, target, port } = options;
  const findings = new ConfigProblems(place.journal, () => undefined);
  const written = {
    archive: { url, accountKey: "demo", signing: { secret: "demo" } },
    mirrors: [{ name: "scans", source: place.inbox, target, settle: "1s" }],
    journal: place.journal,
    conversion: { poll: { initial: "300ms", max: "5s" } },
    web: { listen: `127.0.0.1:${port}` },
  };
  const sketch = sketchIn(written, place.journal, findings);
  findings.throwIfAny();
  // Nothing was found wrong, so nothing is left out.
  const origin = { path: place.journal, isWritten: true, env: {} };
  return buildConfig(sketch as FileShape, origin);
}
