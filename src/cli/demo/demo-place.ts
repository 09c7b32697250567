import { cp, mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { codeOf, Fault } from "../../std/fault.ts";
import { makeDirectory } from "../../std/make-directory.ts";

/** Beside `src` or `dist`, as the package ships them. */
const SAMPLES = fileURLToPath(new URL("../../../samples", import.meta.url));

/** Where the demonstration keeps its things: the folder of scans, the journal, the archive. */
export class DemoPlace implements AsyncDisposable {
  readonly inbox: string;
  readonly journal: string;
  readonly archive: string;
  /** The folders of the folder of scans, `""` the top: what the archive has to have. */
  readonly folders: readonly string[];
  readonly #root: string;
  readonly #isTemporary: boolean;

  private constructor(root: string, isTemporary: boolean, folders: readonly string[]) {
    this.#root = root;
    this.#isTemporary = isTemporary;
    this.inbox = join(root, "scans");
    this.journal = join(root, "journal.db");
    this.archive = join(root, "archive");
    this.folders = folders;
  }

  /**
   * Copies the samples into `data`, or into a new temporary directory that goes away with this. Rejects with
   * DEMO_UNWRITABLE where the disk does not take them.
   */
  static async open(data: string | undefined, cwd: string): Promise<DemoPlace> {
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
      return new DemoPlace(root, data === undefined, await foldersOf(inbox));
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined) throw error;
      const where = data ?? tmpdir();
      throw new Fault(
        "DEMO_UNWRITABLE",
        `the demonstration cannot be set up in ${where} (${code})`,
        "Name a directory that can be written to with --data.",
        { cause: error },
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isTemporary) await rm(this.#root, { recursive: true, force: true });
  }
}

async function foldersOf(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const folders = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length));
  return ["", ...folders.sort()];
}
