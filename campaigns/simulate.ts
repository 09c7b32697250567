/** Whole histories of the loops from seeds, on all cores; `npm run campaign:simulate`. */
import { type ChildProcess, fork } from "node:child_process";
import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import { type Campaign, type CampaignRun, type Figures, runCampaign } from "./campaign.ts";
import type { Lived, Order } from "./simulate-worker.ts";

/** Histories that a process lives through before it says how they went. */
const CHUNK = 200;

const WORKER = new URL("simulate-worker.ts", import.meta.url);

/** Young objects live for one history: room for more of them costs fewer collections. */
const NODE_FLAGS = ["--max-semi-space-size=32", "--stack-trace-limit=0"];

const campaign: Campaign = {
  name: "simulate",
  about: "crashes, faults and edits from a seed; each document once, whole and accounted for",
  unit: "histories",
  count: { short: 2_000, long: 1_000_000 },
  run,
};

async function run(campaignRun: CampaignRun): Promise<Figures> {
  const orders = ordersOf(campaignRun);
  const lived: Lived[] = [];
  const startedAt = performance.now();
  // Every process takes the next order when it is through with one.
  const next = orders[Symbol.iterator]();
  const processes = Math.min(availableParallelism(), orders.length);
  await Promise.all(
    Array.from({ length: processes }, async () => {
      const child = fork(WORKER, { execArgv: NODE_FLAGS });
      for (const order of next) {
        const chunk = await ask(child, order);
        lived.push(chunk);
        tell(campaignRun, chunk);
        if (lived.length % 100 === 0) campaignRun.say(`${lived.length} of ${orders.length} chunks`);
      }
      child.disconnect();
    }),
  );
  return figuresOf(campaignRun, lived, (performance.now() - startedAt) / 1_000);
}

/** The last one is the first one again: another process must tell the same histories. */
function ordersOf({ seed, count }: CampaignRun): Order[] {
  const orders: Order[] = [];
  for (let from = seed; from < seed + count; from += CHUNK) {
    orders.push({ from, to: Math.min(from + CHUNK, seed + count) });
  }
  return [...orders, ...orders.slice(0, 1)];
}

function ask(child: ChildProcess, order: Order): Promise<Lived> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`a process ended with ${code}`));
    child.once("exit", ended);
    child.once("message", (answer) => {
      child.off("exit", ended);
      resolve(answer as Lived);
    });
    child.send(order);
  });
}

function tell(campaignRun: CampaignRun, { failures }: Lived): void {
  for (const { seed, problems } of failures) {
    campaignRun.broken(
      `seed ${seed}: ${problems.join("\n    ")}\n  trace: npm run simulate -- --seed ${seed} --histories 1 --trace`,
      `--seed ${seed} --count 1`,
    );
  }
}

function figuresOf(campaignRun: CampaignRun, lived: Lived[], seconds: number): Figures {
  const { count } = campaignRun;
  const sorted = lived.toSorted((a, b) => a.from - b.from);
  const [first, again, ...others] = sorted;
  if (first?.hash !== again?.hash)
    campaignRun.broken("the same seeds told other histories the second time");
  const hash = createHash("sha256");
  for (const each of [first, ...others]) hash.update(each?.hash ?? "");
  const sum = (of: (each: Lived) => number) => lived.reduce((total, each) => total + of(each), 0);
  return {
    "documents archived": sum(({ documents }) => documents),
    "days of daemon time": (sum(({ simulatedMs }) => simulatedMs) / 86_400_000).toFixed(0),
    "histories/s": (count / seconds).toFixed(0),
    "CPU ms a history": (sum(({ cpuMs }) => cpuMs) / (count + CHUNK)).toFixed(2),
    "trace hash": hash.digest("hex").slice(0, 16),
  };
}

await runCampaign(campaign);
