/**
 * A share that hangs, and one that dies: `npm run campaign:hung-share`.
 *
 * Two equal daemons run side by side under the same load. In one half the share of the first hangs,
 * in the other half that of the second, so that neither the machine's noise nor a difference between
 * the two counts: what the hung ones carried is set against what the free ones did.
 */
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { audit, rowsOf } from "../test/fixtures/auditor.ts";
import { until } from "../test/fixtures/until.ts";
import { SECRET } from "../test/fixtures/world.ts";
import { type CampaignRun, type Figures, runCampaign } from "./campaign.ts";
import { killShare } from "./hung-share/dead-share.ts";
import { Half, quantile } from "./hung-share/half.ts";
import { Standstill } from "./hung-share/standstill.ts";
import { SHUTDOWN_MS, Twin } from "./hung-share/twin.ts";

/** What the other mirrors keep of their throughput. */
const KEPT_MIN = 0.95;
/** Noticing a hang takes a moment, in which less is carried; it counts for much in a short run. */
const NOTICED_S = 1.5;
/** The page answers within this; milliseconds. */
const PAGE_MS_MAX = 200;

/** After this long what was being sent when the share hung is over, and what came next is stuck. */
const STUCK_MS = 700;

async function run(campaign: CampaignRun): Promise<Figures> {
  await using first = await Twin.open("first");
  await using second = await Twin.open("second");
  await Promise.all([first.start(), second.start()]);
  const feeding = setInterval(() => [first, second].forEach((twin) => twin.feed()), 50);
  const halves: Half[] = [];
  try {
    for (const [hung, free] of [
      [first, second],
      [second, first],
    ] as const) {
      const half = await Half.run(hung, free, campaign.count * 1_000);
      campaign.say(`${hung.name} hung: ${half.hung} carried, ${half.free} by the other`);
      halves.push(half);
    }
  } finally {
    clearInterval(feeding);
  }
  const late = await stopWhileHung(second, false, campaign);
  const early = await stopWhileHung(first, true, campaign);
  const dead = await killShare(first, campaign);
  for (const twin of [first, second]) await close(twin, campaign);
  return { ...figuresOf(halves, campaign), ...stopFigures(early, late), ...dead };
}

function figuresOf(halves: readonly Half[], campaign: CampaignRun): Figures {
  const sum = (of: (half: Half) => number) => halves.reduce((all, half) => all + of(half), 0);
  const kept = sum(({ hung }) => hung) / sum(({ free }) => free);
  const keptMin = KEPT_MIN - (campaign.short ? NOTICED_S / campaign.count : 0);
  if (!(kept >= keptMin))
    campaign.broken(`the other mirrors kept ${percent(kept)} of their throughput`);
  const page = halves.flatMap(({ pageMs }) => pageMs);
  const slow = quantile(page, 0.99);
  const freeSlow = quantile(
    halves.flatMap(({ freePageMs }) => freePageMs),
    0.99,
  );
  // On a machine that is busy with other things both pages are slow.
  if (!(slow < Math.max(PAGE_MS_MAX, 1.5 * freeSlow)))
    campaign.broken(`the page took ${slow.toFixed(0)} ms`);
  return {
    "carried next to a hung share": sum(({ hung }) => hung),
    "carried by the twin without": sum(({ free }) => free),
    "throughput kept": percent(kept),
    "page next to a hung share, ms (median, p99, most of N)":
      `${quantile(page, 0.5).toFixed(0)}, ${slow.toFixed(0)}, ` +
      `${Math.max(...page).toFixed(0)} of ${page.length}`,
    "page of the twin without, ms (p99)": freeSlow.toFixed(0),
  };
}

function stopFigures(early: number, late: number): Figures {
  return {
    "SIGTERM with uploads stuck in the share, ms": Math.round(early),
    "SIGTERM long into the hang, ms": Math.round(late),
    "shutdown, ms": SHUTDOWN_MS,
  };
}

/**
 * Ends the daemon while its share hangs; milliseconds until it was gone, but for those in which nothing
 * went on at all. The share then goes on.
 */
async function stopWhileHung(twin: Twin, hangNow: boolean, run: CampaignRun): Promise<number> {
  if (hangNow) await Half.hang(twin);
  else twin.share.hang();
  await delay(hangNow ? STUCK_MS : 5_000);
  using standstill = new Standstill();
  const startedAt = performance.now();
  const code = await twin.daemon.end("SIGTERM");
  const ms = performance.now() - startedAt - standstill.ms;
  if (code !== 0) run.broken(`SIGTERM next to a hung share ended with ${code}`);
  if (ms > SHUTDOWN_MS) run.broken(`SIGTERM next to a hung share took ${ms.toFixed(0)} ms`);
  twin.share.goOn();
  await twin.start();
  return ms;
}

/** Lets it carry what is left, then compares everything. */
async function close(twin: Twin, run: CampaignRun): Promise<void> {
  await twin.daemon.end("SIGTERM");
  const code = await twin.finish();
  if (code !== 0) run.broken(`${twin.name}: the last pass ended with ${code}`);
  await twin.world.archive.idle();
  for (const problem of await audit(twin.world, { mirrors: true }))
    run.broken(`${twin.name}: ${problem}`);
  const rows = await rowsOf(twin.world.journal);
  const stored = twin.world.archive.documents().length;
  if (rows.length !== twin.written || stored !== twin.written)
    run.broken(`${twin.written} files, ${rows.length} rows, ${stored} documents`);
  const kept = readFileSync(twin.world.journal).includes(SECRET);
  if (kept || twin.said.includes(SECRET)) run.broken(`${twin.name}: the secret came out`);
  await until("the share", () => twin.share.isMounted());
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

await runCampaign({
  name: "hung-share",
  about: "a share hangs, then dies; the other mirrors go on, and nothing is taken for removed",
  unit: "seconds of hang in each half",
  count: { short: 20, long: 600 },
  run,
});
