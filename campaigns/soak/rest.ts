/** The end of a soak: all alerts are over, and whatever can continue automatically does. */
import { setTimeout as delay } from "node:timers/promises";
import { rowsOf } from "../../test/fixtures/auditor.ts";
import type { Town } from "./town.ts";
import type { Work } from "./work.ts";

/** A busy machine takes its time, and gives a soak what others leave. */
const PATIENCE_MS = 15 * 60_000;

/** Looks in a row that find nothing left to do before it is taken for rest. */
const LOOKS = 3;

/** Waits for rest; says what is left when it does not come. */
export async function rest(town: Town, work: Work): Promise<string[]> {
  await town.tell("/faults", { plan: null });
  await town.tell("/quota", { pages: null });
  for (const folder of work.folders) await town.tell("/folders", { path: `/Scans/${folder}` });
  await town.command("resume");
  const deadline = performance.now() + PATIENCE_MS;
  for (let quiet = 0; quiet < LOOKS; ) {
    if (!town.daemonRuns) return ["the daemon ended"];
    const busy = await underWay(town);
    if (performance.now() > deadline)
      return [`no rest after ${PATIENCE_MS / 60_000} minutes: ${busy.join(", ")}`];
    quiet = busy.length === 0 ? quiet + 1 : 0;
    if (quiet === 1) process.kill(town.daemonPid, "SIGUSR1");
    await delay(2_000);
  }
  return [];
}

async function underWay(town: Town): Promise<string[]> {
  const rows = await rowsOf(town.journal);
  return rows
    .filter(({ state, current, goneAt }) => {
      const isOver = state === "converted" || (goneAt !== null && !current);
      return !isOver;
    })
    .map(({ id, state, problem }) => `${id} ${state} ${problem?.code ?? ""}`.trimEnd());
}
