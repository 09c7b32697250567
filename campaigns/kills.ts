/**
 * SIGKILL at random moments of the real daemon and of its readers, under load: half of the moments
 * lie in the start-up, half in the work after it. In between everything comes to rest and is audited.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { aProcess, childrenOf, type Running } from "../test/fixtures/a-process.ts";
import { aWorld, type World } from "../test/fixtures/world.ts";
import { Dice } from "../test/simulation/dice.ts";
import { doubtsOf, restAndAudit, secretsSaid } from "./aftermath.ts";
import { type CampaignRun, runCampaign } from "./campaign.ts";
import { DOUBT_WINDOW, Lateness } from "./judged-world.ts";
import type { LateStores } from "./late-stores.ts";
import { FOLDERS, ScanDropper } from "./scan-dropper.ts";

/** Kills of one world, before it is left to finish and audited. */
const WORLD_KILLS = 300;
/** Files that may wait to be carried before nothing more is dropped. */
const BACKLOG_MAX = 80;
/** The part of a life that is spent after its start-up, at most. */
const WORK_MS = 400;
const READER_SHARE = 0.25;
/** After so many daemons it is measured again how long one takes to start: others may be at work just now, or were. */
const MEASURED_EVERY = 40;

const NOTHING = { daemons: 0, readers: 0, starting: 0, documents: 0, found: 0, absent: 0 };
type Total = typeof NOTHING;
const NAMES = Object.keys(NOTHING) as (keyof Total)[];

await runCampaign({
  name: "kills",
  about: "SIGKILL of the daemon or a reader at random moments under load; each document once",
  unit: "kills",
  count: { short: 50, long: 10_000 },
  async run(run) {
    const total = { ...NOTHING };
    const lateness = new Lateness();
    const beganAt = performance.now();
    for (let done = 0, seed = run.seed; done < run.count; done += WORLD_KILLS, seed++) {
      const kills = Math.min(WORLD_KILLS, run.count - done);
      const seen = await lateness.judge(run, (late) => oneWorld(run, seed, kills, late));
      for (const name of NAMES) total[name] += seen?.[name] ?? 0;
      const perKill = (performance.now() - beganAt) / 1_000 / (done + kills);
      run.say(
        `${done + kills} kills, ${total.documents} documents, ${perKill.toFixed(2)} s a kill`,
      );
    }
    return {
      "kills of the daemon": `${total.daemons}, ${total.starting} of them while it started`,
      "kills of a reader": total.readers,
      "documents archived": total.documents,
      "replies lost to a kill": `${total.found} found in the archive, ${total.absent} not there and sent again`,
      ...lateness.figures,
    };
  },
});

/** One world with its own seed, so that what breaks in it can be repeated without the others. */
async function oneWorld(
  run: CampaignRun,
  seed: number,
  kills: number,
  late: LateStores,
): Promise<Total> {
  const total = { ...NOTHING };
  const dice = new Dice(seed);
  const folders = FOLDERS.filter((folder) => folder !== "").map((folder) => `/Scans/${folder}`);
  await using world = await aWorld({ convertDelayMs: 100, folders, onStored: late.note });
  const slow = new Dice(seed);
  world.archive.setFaults(({ operation }) =>
    operation === "upload" && slow.chance(0.4) ? { do: "delay", ms: slow.int(10, 250) } : undefined,
  );
  const dropper = new ScanDropper(world.source, dice);
  const problems = await underFire({ world, dropper, dice, late }, kills, total);
  world.archive.setFaults(undefined);
  problems.push(...(await restAndAudit(world, dropper, late)));
  const doubts = await doubtsOf(world.journal);
  total.found += doubts.found;
  total.absent += doubts.absent;
  total.documents += world.archive.documents().length;
  for (const problem of problems) run.broken(problem, `--seed ${seed} --count ${kills}`);
  return total;
}

type Fire = { world: World; dropper: ScanDropper; dice: Dice; late: LateStores };

async function underFire(
  { world, dropper, dice, late }: Fire,
  kills: number,
  total: Total,
): Promise<string[]> {
  const config = world.configFile("", "", DOUBT_WINDOW);
  // What is compiled once starts faster, so that more of the time is spent on kills.
  const env = { NODE_COMPILE_CACHE: join(world.dir, "compiled") };
  const start = () => aProcess(["--config", config, "run"], env);
  const dropping = setInterval(() => {
    if (dropper.files - late.count < BACKLOG_MAX) dropper.step();
  }, 70);
  const problems: string[] = [];
  try {
    await startUpMs(start);
    let startMs = await startUpMs(start);
    let daemon = start();
    for (let kill = 0; kill < kills; kill++) {
      const inStart = dice.chance(0.5);
      await sleep(inStart ? dice.random() * startMs : startMs + dice.random() * WORK_MS);
      if (daemon.child.exitCode !== null) {
        problems.push(`ended on its own with ${daemon.child.exitCode}: ${daemon.output.stderr}`);
      }
      const [reader] = childrenOf(daemon.child.pid);
      if (reader !== undefined && dice.chance(READER_SHARE)) {
        process.kill(reader, "SIGKILL");
        total.readers += 1;
        continue;
      }
      total.daemons += 1;
      if (!daemon.output.stdout.includes('"scanned"')) total.starting += 1;
      await daemon.end("SIGKILL");
      problems.push(...secretsSaid(daemon.output));
      if (total.daemons % MEASURED_EVERY === 0) startMs = await startUpMs(start);
      daemon = start();
    }
    await daemon.end("SIGKILL");
  } finally {
    clearInterval(dropping);
  }
  return problems;
}

/** How long this machine takes, just now, from the start of the process to the end of its first scan. */
async function startUpMs(start: () => Running): Promise<number> {
  const startedAt = performance.now();
  await using daemon = start();
  await daemon.says(/"scanned"/);
  const startMs = performance.now() - startedAt;
  await daemon.end("SIGTERM");
  return startMs;
}
