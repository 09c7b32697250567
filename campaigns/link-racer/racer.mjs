/**
 * The same as racer.py where there is no Python: Node cannot exchange two names at once, so the name
 * is free for a moment.
 */
import { renameSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const [swaps = 0, pauseS = 0, , folder = "", other = "", ...names] = process.argv.slice(2);

function exchange(name) {
  const aside = join(other, `${name}.aside`);
  renameSync(join(folder, name), aside);
  renameSync(join(other, name), join(folder, name));
  renameSync(aside, join(other, name));
}

for (let n = 0; n < Math.floor(Number(swaps) / 2); n++) {
  const name = names[n % names.length] ?? "";
  exchange(name);
  await delay(Math.random() * Number(pauseS) * 1_000);
  exchange(name);
  await delay(Math.random() * Number(pauseS) * 1_000);
}
console.log(Math.floor(Number(swaps) / 2) * 2);
