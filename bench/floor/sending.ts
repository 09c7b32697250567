/** A job of the bench by curl, by the least that can do it, and by scanferry. */
import { availableParallelism } from "node:os";
import { type Bench, inTurns, medianBy } from "../daemon/bench.ts";
import { costOf } from "../daemon/cost.ts";
import { Home } from "../daemon/home.ts";
import { carry, curl, type Job, type Sent, sentTo, shown, wall } from "../daemon/job.ts";
import { treeOf } from "../daemon/tree.ts";
import { KINDS, type Least } from "./kinds.ts";
import type { Row } from "./row.ts";

/** Medians, in turns; `program` is the least. */
export async function sending(bench: Bench, job: Job, program: string): Promise<Row[]> {
  const { tree, concurrency, latencyMs = 0 } = job;
  const root = treeOf(bench, tree);
  const home = new Home(bench, "floor");
  const least = (kind: keyof typeof KINDS) => (url: string) => {
    home.forget();
    const order: Least = { ...tree, kind, url, root, concurrency, journal: home.journal };
    return costOf(process.execPath, [program, JSON.stringify(order)]);
  };
  const leasts = (Object.keys(KINDS) as (keyof typeof KINDS)[]).map((kind) => ({
    by: KINDS[kind],
    send: least(kind),
  }));
  const all = [
    { by: "curl", send: (url: string) => curl(job, url, root, home.dir) },
    ...leasts,
    { by: "scanferry", send: (url: string) => carry(home, url, root, concurrency) },
  ];
  const senders = all.filter(({ by }) => by !== "curl" || bench.has(by));
  const turns = senders.map(
    ({ send }) =>
      () =>
        sentTo({ latencyMs }, tree, send),
  );
  const runs = await inTurns(bench.rounds, turns);
  return senders.map(({ by }, index) => {
    const run = medianBy(runs[index] ?? [], wall);
    const row = { by, seconds: run.seconds, took: shown(run, tree) };
    return by === "curl" ? row : { ...row, bestSeconds: bestOf(run, job) };
  });
}

/**
 * The seconds of a run whose work, and the sink's, had kept all processors busy all the time, without any wait but for
 * the line's answers.
 */
function bestOf(
  { seconds, cpuSeconds, sinkIdle }: Sent,
  { concurrency, tree, latencyMs = 0 }: Job,
): number {
  const busy = (cpuSeconds + (1 - sinkIdle) * seconds) / availableParallelism();
  const answers = (Math.ceil(tree.files / concurrency) * latencyMs) / 1_000;
  return Math.max(busy, answers);
}
