/** A tree that a daemon knows: journaled whole by a first run, with nothing due for a day. */
import { check, type Bench } from "./bench.ts";
import { Home } from "./home.ts";
import { type TreeSpec, treeOf } from "./tree.ts";

/** Files are so small that their contents do not count. */
const BYTES = 16;
const PER_DIRECTORY = 100;

/** Nothing settles while it is measured. */
const SETTLE = "1d";

export type KnownTree = { readonly home: Home; readonly root: string; readonly spec: TreeSpec };

const known = new Set<string>();

export function knownTreeOf(bench: Bench, files: number): KnownTree {
  const spec = { files, bytes: BYTES, directories: Math.ceil(files / PER_DIRECTORY) };
  return { home: new Home(bench, `known-${files}`), root: treeOf(bench, spec), spec };
}

/** Journals the tree again with a daemon that goes on watching; seconds since its start. */
export async function journalAgain({ home, root, spec }: KnownTree) {
  home.forget();
  home.configure({ source: root, settle: SETTLE });
  const begun = performance.now();
  const running = home.run();
  await running.scanned(1);
  const seconds = (performance.now() - begun) / 1_000;
  const { documents } = JSON.parse((await home.cost("status", "--json")).stdout) as {
    documents: { settling: number };
  };
  check(documents.settling === spec.files, `${documents.settling} rows of ${spec.files} files`);
  known.add(home.dir);
  return { running, seconds };
}

/** The tree with its journal, made if it is not there yet. */
export async function journaledTree(bench: Bench, files: number): Promise<KnownTree> {
  const tree = knownTreeOf(bench, files);
  if (known.has(tree.home.dir)) return tree;
  const { running } = await journalAgain(tree);
  await using _daemon = running;
  await running.end();
  return tree;
}
