/** `npm run simulate -- --seed N --histories M`: many histories, and the seed of each that fails. */
import { parseArgs } from "node:util";
import { ClusterWorld } from "./cluster-world.ts";
import { history, lived } from "./history.ts";
import { historyOfTwo } from "./two-archives.ts";

const HISTORIES = {
  one: (seed: number) => history(seed),
  two: (seed: number) => historyOfTwo(seed),
  cluster: (seed: number) => lived(new ClusterWorld(seed), seed),
};

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    histories: { type: "string", default: "20000" },
    /** Prints the trace of every history that fails; of all of them where there is just one. */
    trace: { type: "boolean", default: false },
    /** `one` daemon for one archive; `two` archives; a `cluster` of daemons. */
    world: { type: "string", default: "one" },
  },
});

const historyOf = HISTORIES[values.world as keyof typeof HISTORIES];
const first = Number(values.seed);
const histories = Number(values.histories);
const startedAt = performance.now();
let documents = 0;
let simulatedMs = 0;
const failed: number[] = [];
for (let seed = first; seed < first + histories; seed++) {
  const outcome = await historyOf(seed);
  documents += outcome.documents;
  simulatedMs += outcome.simulatedMs;
  if (values.trace && (histories === 1 || outcome.problems.length > 0)) {
    console.log(outcome.trace.join("\n"));
  }
  if (outcome.problems.length === 0) continue;
  failed.push(seed);
  console.log(`seed ${seed}:\n  ${outcome.problems.join("\n  ")}`);
  console.log(
    `  repeat: npm run simulate -- --world ${values.world} --seed ${seed} --histories 1 --trace`,
  );
}
const seconds = (performance.now() - startedAt) / 1_000;
const days = (simulatedMs / 86_400_000).toFixed(1);
console.log(
  `${histories} histories in ${seconds.toFixed(1)} s (${(histories / seconds).toFixed(1)}/s), ` +
    `${documents} documents archived, ${days} days of daemon time, ${failed.length} failed`,
);
if (failed.length > 0) process.exitCode = 1;
