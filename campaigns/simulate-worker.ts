/** A process of `simulate.ts`: lives through the histories that it is sent, chunk by chunk. */
import { createHash } from "node:crypto";
import { history } from "../test/simulation/history.ts";

/** Seeds from `from` up to but not including `to`. */
export type Order = { readonly from: number; readonly to: number };

/** What they came to; `hash` is that of all their traces. */
export type Lived = Order & {
  readonly failures: readonly { readonly seed: number; readonly problems: readonly string[] }[];
  readonly documents: number;
  readonly simulatedMs: number;
  readonly cpuMs: number;
  readonly hash: string;
};

async function live({ from, to }: Order): Promise<Lived> {
  const before = process.cpuUsage();
  const hash = createHash("sha256");
  const failures: { seed: number; problems: readonly string[] }[] = [];
  let documents = 0;
  let simulatedMs = 0;
  for (let seed = from; seed < to; seed++) {
    const outcome = await history(seed);
    hash.update(outcome.traceHash);
    documents += outcome.documents;
    simulatedMs += outcome.simulatedMs;
    if (outcome.problems.length > 0) failures.push({ seed, problems: outcome.problems });
  }
  const { user, system } = process.cpuUsage(before);
  const cpuMs = (user + system) / 1_000;
  return { from, to, failures, documents, simulatedMs, cpuMs, hash: hash.digest("hex") };
}

process.on("message", (order: Order) => {
  void live(order).then((lived) => process.send?.(lived));
});
