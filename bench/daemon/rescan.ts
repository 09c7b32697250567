/** What it takes to see that nothing has changed, and what other tools need for that. */
import { join } from "node:path";
import { type Bench, type Bound, type Case, inTurns, median, rounded } from "./bench.ts";
import { costOf } from "./cost.ts";
import { journaledTree } from "./known-tree.ts";
import type { RunningDaemon } from "./running-daemon.ts";

type Tool = {
  readonly name: string;
  readonly bound: Bound;
  /** What has to be done once, before it is measured. */
  prepare(): Promise<unknown>;
  run(): Promise<{ readonly seconds: number }>;
};

export const rescan: Case = {
  name: "rescan",
  async run(bench) {
    const tree = await journaledTree(bench, bench.quick ? 10_000 : 1_000_000);
    await using daemon = tree.home.run();
    await daemon.scanned(1);
    for (const tool of toolsOf(bench, tree.root)) await beside(bench, daemon, tool);
    await daemon.end();
  },
};

async function beside(bench: Bench, daemon: RunningDaemon, tool: Tool): Promise<void> {
  await tool.prepare();
  const [ours = [], theirs = []] = await inTurns(bench.rounds, [
    () => daemon.rescan(),
    async () => (await tool.run()).seconds,
  ]);
  const [own, other] = [median(ours), median(theirs)];
  const isLimit = tool.bound.atMost !== undefined;
  bench.find({
    what: `rescan without a change, ${isLimit ? "our time by theirs" : "their time by ours"}`,
    ours: `${rounded(own)} s`,
    beside: `${tool.name} ${rounded(other)} s`,
    value: isLimit ? own / other : other / own,
    bound: tool.bound,
  });
}

function toolsOf(bench: Bench, root: string): Tool[] {
  const rcloneEnv = { RCLONE_CONFIG: join(bench.dir, "rclone.conf") };
  const resticEnv = {
    RESTIC_REPOSITORY: join(bench.dir, "restic"),
    RESTIC_PASSWORD: "bench",
    RESTIC_CACHE_DIR: join(bench.dir, "restic-cache"),
  };
  const backUp = () => costOf("restic", ["backup", "--quiet", root], resticEnv);
  const all: (Tool & { tool: string })[] = [
    {
      tool: "find",
      name: "`find -printf`",
      bound: { atMost: 1.5, unit: "×" },
      prepare: async () => {},
      run: () => costOf("find", [root, "-printf", "%p %s %T@ %C@ %i\\n"]),
    },
    {
      tool: "rclone",
      name: "`rclone size`",
      bound: { atLeast: 2, unit: "×" },
      prepare: async () => {},
      run: () => costOf("rclone", ["size", root], rcloneEnv),
    },
    {
      tool: "restic",
      name: "`restic backup`, nothing new,",
      bound: { atLeast: 20, unit: "×" },
      prepare: async () => {
        await costOf("restic", ["init", "--quiet"], resticEnv);
        await backUp();
      },
      run: backUp,
    },
  ];
  return all.filter(({ tool }) => bench.has(tool));
}
