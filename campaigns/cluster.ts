/**
 * Three real daemons on one journal in a real PostgreSQL, each on a host of its own, under fire:
 * killed, stopped still for longer than their leases, cut off from the database and the archive,
 * while the database crashes, stops and refuses. In between everything comes to rest and is audited.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../test/fixtures/until.ts";
import { Dice } from "../test/simulation/dice.ts";
import { doubtsOf, restAndAudit } from "./aftermath.ts";
import { type CampaignRun, runCampaign } from "./campaign.ts";
import { aClusterWorld, DOUBT_WINDOW_MS, FOLDERS, LEASE_MS } from "./cluster/cluster-world.ts";
import { Ground } from "./cluster/ground.ts";
import { PLANTED, planted, type Plot } from "./cluster/planted.ts";
import { afterwards } from "./cluster/rest.ts";
import { man, Storm } from "./cluster/storm.ts";
import { Witness } from "./cluster/witness.ts";
import { Lateness } from "./judged-world.ts";
import type { LateStores } from "./late-stores.ts";
import { ScanDropper } from "./scan-dropper.ts";

/** Blows of one world, before it is left to come to rest and audited. */
const WORLD_BLOWS = 100;
/** Files that may wait to be carried before nothing more is dropped. */
const BACKLOG_MAX = 150;
/**
 * Upon so many files fall the blows of a run, or upon as many more as make the least for each; a single world,
 * which is how one is repeated, has the least.
 */
const FILES = 20_000;
const FILES_PER_BLOW_MIN = 10;
/** Between two blows, at most; a blow waits no longer for the files that belong to it. */
const GAP_MS = 3_000;
const FILES_MS = 20_000;

const NOTHING = { documents: 0, files: 0, found: 0, absent: 0, moves: 0, lost: 0, instances: 0 };
type Total = typeof NOTHING & { readonly blows: Map<string, number> };

await runCampaign({
  name: "cluster",
  about: "three daemons on one journal, killed, stopped and cut off; each document once",
  unit: "blows",
  count: { short: 20, long: 5_000 },
  planted: PLANTED,
  async run(run) {
    const plot = planted(run.planted);
    await using ground = await Ground.open();
    if (ground.noNetwork !== undefined) run.say(`NO PARTITIONS: ${ground.noNetwork}`);
    const total: Total = { ...NOTHING, blows: new Map() };
    // Anyone who hands bytes over after the end of its lease is late, and not the archive.
    const lateness = new Lateness(DOUBT_WINDOW_MS, "received");
    for (let done = 0, seed = run.seed; done < run.count; done += WORLD_BLOWS, seed++) {
      const blows = Math.min(WORLD_BLOWS, run.count - done);
      const seen = await lateness.judge(run, (late) =>
        oneWorld({ run, ground, seed, blows, late, plot }),
      );
      add(total, seen);
      run.say(`${done + blows} blows, ${total.documents} documents`);
    }
    return {
      ...Object.fromEntries([...total.blows].toSorted(([a], [b]) => a.localeCompare(b))),
      partitions: ground.noNetwork === undefined ? "yes" : `none: ${ground.noNetwork}`,
      "files dropped": total.files,
      "documents archived": total.documents,
      daemons: `${total.instances}, ${total.lost} declared lost; lease ${LEASE_MS} ms`,
      "assignments that passed to another daemon": total.moves,
      "replies lost": `${total.found} found in the archive, ${total.absent} not there and sent again`,
      ...lateness.figures,
    };
  },
});

type Part = {
  readonly run: CampaignRun;
  readonly ground: Ground;
  readonly seed: number;
  readonly blows: number;
  readonly late: LateStores;
  readonly plot: Plot;
};

/** One world with its own seed, so that what breaks in it can be repeated without the others. */
async function oneWorld({ run, ground, seed, blows, late, plot }: Part): Promise<Total> {
  const dice = new Dice(seed);
  await using cluster = await aClusterWorld(ground, seed, late, plot.main);
  const { world, posts } = cluster;
  const dropper = new ScanDropper(world.source, dice, FOLDERS);
  man(posts);
  const witness = await Witness.of(ground.postgres, cluster.schema);
  const storm = new Storm(cluster, dice, plot.blows);
  const share = run.count > WORLD_BLOWS ? Math.ceil(FILES / run.count) : 0;
  const perBlow = Math.max(FILES_PER_BLOW_MIN, share);
  const dropping = setInterval(() => {
    for (let step = 0; step < 3 && dropper.files - late.count < BACKLOG_MAX; step++) dropper.step();
  }, 70);
  try {
    for (let blow = 1; blow <= blows; blow++) {
      await sleep(dice.random() * GAP_MS);
      await patiently(() => dropper.files >= perBlow * blow);
      await storm.strike();
    }
    await storm.calm();
  } finally {
    clearInterval(dropping);
  }
  dropper.finish();
  world.archive.setFaults(undefined);
  man(posts);
  const problems = [
    ...storm.problems,
    ...(await afterwards(cluster, dropper.files)),
    ...(await restAndAudit(world, dropper, late, { mirrors: true })),
    ...(await witness.broken()),
    ...cluster.leaks(),
  ];
  for (const problem of problems) run.broken(problem, `--seed ${seed} --count ${blows}`);
  return {
    ...(await witness.figures()),
    ...(await doubtsOf(world.journal)),
    documents: world.archive.documents().length,
    files: dropper.files,
    blows: new Map(storm.counts),
  };
}

/** Until it is so, or for as long as a blow waits. */
async function patiently(isSo: () => boolean): Promise<void> {
  await until("the files of a blow", isSo, FILES_MS).catch(() => undefined);
}

function add(total: Total, more: Total | undefined): void {
  if (!more) return;
  for (const name of Object.keys(NOTHING) as (keyof typeof NOTHING)[]) total[name] += more[name];
  for (const [name, times] of more.blows)
    total.blows.set(name, (total.blows.get(name) ?? 0) + times);
}
