/** A look at every file of a large tree by public tools, and by the least that can look. */
import { join } from "node:path";
import { type Bench, inTurns, median, rounded } from "../daemon/bench.ts";
import { costOf } from "../daemon/cost.ts";
import { wall } from "../daemon/job.ts";
import { treeOf } from "../daemon/tree.ts";
import type { Row } from "./row.ts";

const A_DIRECTORY = 100;

/** Medians, in turns; `program` is the least. */
export async function looking(bench: Bench, files: number, program: string): Promise<Row[]> {
  const root = treeOf(bench, { files, bytes: 16, directories: files / A_DIRECTORY });
  const env = { RCLONE_CONFIG: join(bench.dir, "rclone.conf") };
  const walk = (threads: number) => () =>
    costOf(process.execPath, [program, root, String(threads), String(files)]);
  const all = [
    { tool: "rclone", by: "`rclone size`", look: () => costOf("rclone", ["size", root], env) },
    {
      tool: "find",
      by: "`find -printf`",
      look: () => costOf("find", [root, "-printf", "%p %s %T@ %C@ %i\\n"]),
    },
    { by: "looks, one thread", look: walk(1) },
    { by: "two threads", look: walk(2) },
  ];
  const statReaders = all.filter(({ tool }) => tool === undefined || bench.has(tool));
  const runs = await inTurns(
    bench.rounds,
    statReaders.map(({ look }) => look),
  );
  return statReaders.map(({ by }, index) => {
    const seconds = median((runs[index] ?? []).map(wall));
    return { by, seconds, took: `${rounded(seconds)} s` };
  });
}
