/** After the storm: work continues automatically until all is done, and every daemon ends when it is told to. */
import { audit } from "../../test/fixtures/auditor.ts";
import { until } from "../../test/fixtures/until.ts";
import type { ClusterWorld } from "./cluster-world.ts";

/** Doubts, take-overs and retries follow one another; a loaded machine takes its time. */
const REST_MS = 240_000;

/** States in which something is still to be done. */
const UNDER_WAY = ["settling", "pending", "uploading", "inDoubt", "uploaded"];

/** What is wrong with how a cluster that is left alone brings all files to their end, and then ends. */
export async function afterwards(cluster: ClusterWorld, files: number): Promise<string[]> {
  const problems: string[] = [];
  let last = "";
  const isDone = async () => {
    problems.push(...cluster.posts.flatMap((post) => post.ended()));
    const { current, states } = await standOf(cluster);
    last = `${current} of ${files} files in the journal: ${JSON.stringify(states)}`;
    if (problems.length > 0) return true;
    return current >= files && UNDER_WAY.every((state) => !states[state]) && allSeen(cluster);
  };
  await until("work to be done on its own", isDone, REST_MS).catch((error: unknown) => {
    problems.push(`${String(error)}: ${last}`);
  });
  for (const post of cluster.posts) {
    const code = await post.end("SIGTERM");
    if (code !== 0) problems.push(`SIGTERM ended ${post.name} with ${code}: ${tail(post.said)}`);
  }
  return problems;
}

async function allSeen({ world }: ClusterWorld): Promise<boolean> {
  const found = await audit(world, { mirrors: true });
  return !found.some((problem) => problem.endsWith(": not in the journal"));
}

type Stand = { readonly current: number; readonly states: Readonly<Record<string, number>> };

async function standOf({ postgres, schema }: ClusterWorld): Promise<Stand> {
  const rows = await postgres.ask(
    `SELECT state, count(*)::int AS rows, sum(current)::int AS current
       FROM ${schema}.documents GROUP BY state`,
  );
  return {
    current: rows.reduce((sum, { current }) => sum + Number(current), 0),
    states: Object.fromEntries(rows.map((row) => [String(row["state"]), Number(row["rows"])])),
  };
}

const tail = (said: string) => said.slice(-1_000);
