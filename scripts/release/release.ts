/** The way from a tree to a release, or to the reasons why there is none. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checksums } from "./artifacts.ts";
import { obstacles } from "./obstacles.ts";

export type ReleaseOptions = {
  /** The tree that is released. */
  readonly root: string;
  /** Where the release goes; what is there is replaced. */
  readonly to: string;
  /** What must pass first, in the order of how soon each tells; false: it did not. */
  readonly checks: Readonly<Record<string, () => boolean>>;
  /** Makes everything in an empty directory. */
  readonly make: (directory: string) => void;
};

/** Makes the release; returns what is in the way, a line each. Then `to` is as it was before. */
export function release({ root, to, checks, make }: ReleaseOptions): string[] {
  const found = obstacles(root);
  if (found.length > 0) return found;
  for (const [name, passes] of Object.entries(checks)) {
    if (!passes()) return [`${name} fails`];
  }
  const work = mkdtempSync(join(tmpdir(), "scanferry-release-"));
  try {
    const [first, second] = [join(work, "1"), join(work, "2")];
    for (const build of [first, second]) make(build);
    const [some, others] = [checksums(first).split("\n"), checksums(second).split("\n")];
    const different = some.filter((line) => !others.includes(line));
    if (different.length > 0 || some.length !== others.length) {
      return different.map((line) => `two builds differ: ${line.split("  ")[1]}`);
    }
    // A check, or a person, may have changed something meanwhile.
    const late = obstacles(root);
    if (late.length > 0) return late;
    rmSync(to, { recursive: true, force: true });
    cpSync(first, to, { recursive: true });
    return [];
  } finally {
    rmSync(work, { recursive: true });
  }
}
