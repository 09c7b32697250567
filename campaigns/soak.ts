/** Hours of mixed work with faults: what the processes take must stay what it was. */
import { mkdtempSync, rmSync } from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { audit } from "../test/fixtures/auditor.ts";
import { leakLine, leaksBelow } from "../test/fixtures/canary.ts";
import { Dice } from "../test/simulation/dice.ts";
import { type CampaignRun, type Figures, runCampaign } from "./campaign.ts";
import { judge } from "./soak/judgement.ts";
import { rest } from "./soak/rest.ts";
import { Sampler } from "./soak/sampler.ts";
import { Town } from "./soak/town.ts";
import { pass, Alerts } from "./soak/alerts.ts";
import { Visitors } from "./soak/visitors.ts";
import { Work } from "./soak/work.ts";

const SAMPLE_MS = 10_000;
/** Means of the random pauses; a short run is a busier one. */
const PACE = { workMs: 1_500, alertMs: 18_000, visitMs: 8_000 } as const;
const HASTE = { workMs: 400, alertMs: 4_000, visitMs: 2_500 } as const;

/** What must not be searched: where the secrets are kept, and the archive, which knows its accounts. */
const NOT_SEARCHED = /^(secrets|archive)(\/|$)/;

await runCampaign({
  name: "soak",
  about: "mixed work with faults; memory, descriptors and WAL stay flat, every document once",
  unit: "minutes",
  count: { short: 1, long: 120 },
  run: soak,
});

async function soak(run: CampaignRun): Promise<Figures> {
  // Whatever is started from here on gives way to others; in a short run, which is beside others, it would not even start.
  if (!run.short) setPriority(10);
  const dir = mkdtempSync(join(tmpdir(), "scanferry-soak-"));
  const town = await Town.open(dir);
  const dice = new Dice(run.seed);
  const work = new Work(town.source, new Dice(dice.int(0, 2 ** 32 - 1)));
  const alerts = new Alerts(town, new Dice(dice.int(0, 2 ** 32 - 1)));
  const visitors = new Visitors(town, new Dice(dice.int(0, 2 ** 32 - 1)));
  const sampler = new Sampler(town, `${dir}.csv`);
  run.say(`below ${dir}; samples in ${dir}.csv`);
  let broken = 0;
  const tell = (what: string) => {
    broken += 1;
    run.broken(what);
  };
  try {
    await live({ run, town, work, alerts, visitors, sampler, dice });
    run.say("the work is done; waiting until nothing is left to do");
    const left = await rest(town, work);
    for (const each of left) tell(each);
    for (const each of await afterwards(town, work)) tell(each);
    const figures = judge(sampler.samples, tell);
    return {
      ...counts("work", work.done),
      ...counts("alerts", alerts.done),
      ...counts("visits", visitors.done),
      documents: (await town.stored()).length,
      ...figures,
    };
  } finally {
    await town.close();
    if (broken === 0) rmSync(dir, { recursive: true });
  }
}

type Life = {
  run: CampaignRun;
  town: Town;
  work: Work;
  alerts: Alerts;
  visitors: Visitors;
  sampler: Sampler;
  dice: Dice;
};

/** Everybody at once, for as long as was asked for. */
async function live({ run, town, work, alerts, visitors, sampler, dice }: Life): Promise<void> {
  const minutes = run.count;
  const gone = new AbortController();
  const over = AbortSignal.any([AbortSignal.timeout(minutes * 60_000), gone.signal]);
  const startedAt = performance.now();
  const pace = minutes < 10 ? HASTE : PACE;
  const often = async (meanMs: number, act: () => Promise<unknown>) => {
    while (!over.aborted) {
      await pass(dice.random() * 2 * meanMs, over);
      if (!over.aborted) await act();
    }
  };
  const slow = new Set<Promise<void>>();
  await Promise.all([
    often(pace.workMs, async () => {
      const step = work.step(over).finally(() => slow.delete(step));
      slow.add(step);
      // Slow writers are let be; what fails fails here.
      await Promise.race([step, pass(50, over)]);
    }),
    often(pace.alertMs, async () => {
      // For most of the time no reader is ended, so that the memory of one can be followed.
      const part = (performance.now() - startedAt) / (minutes * 60_000);
      alerts.endsReaders = minutes < 10 || part < 0.1 || part > 0.9;
      await alerts.next(over);
    }),
    often(pace.visitMs, () => visitors.next(over)),
    often(pace.visitMs, () => makeFolders(town, work)),
    sample(run, town, sampler, over).then(() => {
      // Without a daemon there is nothing to wait for; `rest` tells of it.
      if (!town.daemonRuns) gone.abort();
    }),
  ]);
  await Promise.all(slow);
}

async function sample(
  run: CampaignRun,
  town: Town,
  sampler: Sampler,
  over: AbortSignal,
): Promise<void> {
  while (!over.aborted && town.daemonRuns) {
    const { seconds, daemonRss, readerRss, wal, documents } = await sampler.look();
    const mb = (bytes: number) => (bytes / 1024 / 1024).toFixed(0);
    if (sampler.samples.length % 60 === 0)
      run.say(
        `${Math.round(seconds / 60)} min: daemon ${mb(daemonRss)} MB, reader ${mb(readerRss)} MB, ` +
          `WAL ${mb(wal)} MB, ${documents} documents`,
      );
    await pass(SAMPLE_MS, over);
  }
}

/** The archive's operator makes the folders that documents wait for, some time later. */
async function makeFolders(town: Town, work: Work): Promise<void> {
  for (const folder of work.folders)
    await town.tell("/folders", { path: `/Scans/${folder}` }).catch(() => {});
}

/** The auditor's word, the way the daemon ends, and whatever secrets it left behind. */
async function afterwards(town: Town, work: Work): Promise<string[]> {
  const stored = await town.stored();
  const world = {
    source: town.source,
    journal: town.journal,
    archive: { documents: () => stored },
  };
  const found = await audit(world, { formerly: [...work.digests] });
  const code = await town.endDaemon("SIGTERM");
  if (code !== 0) found.push(`the daemon ended with ${code}`);
  return [...found, ...town.hung, ...leaksBelow(town.dir, NOT_SEARCHED).map(leakLine)];
}

function counts(name: string, done: ReadonlyMap<string, number>): Figures {
  const parts = [...done].sort(([, a], [, b]) => b - a).map(([what, n]) => `${what} ${n}`);
  return { [name]: parts.join(", ") };
}
