/** `npm run simulate -- --seed N --histories M`: many histories, and the seed of each that fails. */
import { parseArgs } from "node:util";
import { history } from "./history.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    histories: { type: "string", default: "20000" },
    /** Prints the trace of every history that fails; of all of them where there is just one. */
    trace: { type: "boolean", default: false },
  },
});

const first = Number(values.seed);
const histories = Number(values.histories);
const startedAt = performance.now();
let documents = 0;
let simulatedMs = 0;
const failed: number[] = [];
for (let seed = first; seed < first + histories; seed++) {
  const outcome = await history(seed);
  documents += outcome.documents;
  simulatedMs += outcome.simulatedMs;
  if (values.trace && (histories === 1 || outcome.problems.length > 0)) {
    console.log(outcome.trace.join("\n"));
  }
  if (outcome.problems.length === 0) continue;
  failed.push(seed);
  console.log(`seed ${seed}:\n  ${outcome.problems.join("\n  ")}`);
  console.log(`  repeat: npm run simulate -- --seed ${seed} --histories 1 --trace`);
}
const seconds = (performance.now() - startedAt) / 1_000;
const days = (simulatedMs / 86_400_000).toFixed(1);
console.log(
  `${histories} histories in ${seconds.toFixed(1)} s (${(histories / seconds).toFixed(1)}/s), ` +
    `${documents} documents archived, ${days} days of daemon time, ${failed.length} failed`,
);
if (failed.length > 0) process.exitCode = 1;
