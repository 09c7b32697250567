/**
 * Replies that no archive should give: `npm run campaign:hostile-replies`.
 *
 * The real client meets made-up replies over real sockets, many at a time, and a judge that knows
 * nothing of the client says of each what it may be taken for. Case n of seed s is case 0 of seed
 * s + n, which is how a failure is repeated alone.
 */
import { readdirSync } from "node:fs";
import { until } from "../test/fixtures/until.ts";
import { type CampaignRun, type Figures, runCampaign } from "./campaign.ts";
import { openElsewhere, type Verdict, Worker } from "./hostile-replies/worker.ts";

const WORKERS = 32;
/** What the process may grow by, with both sides of every connection in it. */
const GROWTH_BYTES_MAX = 384 << 20;
/** Broken promises that are told in full. */
const TOLD_MAX = 20;

async function run(campaign: CampaignRun): Promise<Figures> {
  const stray: unknown[] = [];
  const onStray = (error: unknown) => void stray.push(error);
  process.on("unhandledRejection", onStray).on("uncaughtException", onStray);
  const elsewhere = await openElsewhere();
  const descriptors = openDescriptors();
  const total = new Total(campaign);
  {
    await using workers = new AsyncDisposableStack();
    const all = await Promise.all(
      Array.from({ length: Math.min(WORKERS, campaign.count) }, async () =>
        workers.use(await Worker.open(elsewhere.url)),
      ),
    );
    let next = 0;
    const work = async (worker: Worker) => {
      for (let n = next++; n < campaign.count; n = next++)
        total.add(n, await worker.meet((campaign.seed + n) % 2 ** 32));
    };
    await Promise.all(all.map(work));
  }
  const leftOpen = () => openDescriptors() - descriptors;
  // Sockets that were reset are closed a turn later.
  await until("all to be closed", () => leftOpen() <= 0).catch(() => {});
  const left = leftOpen();
  if (left > 0) campaign.broken(`${left} descriptors are left open`);
  if (elsewhere.visits() > 0) campaign.broken(`${elsewhere.visits()} connections elsewhere`);
  for (const error of stray) campaign.broken(`nobody caught ${String(error)}`);
  elsewhere.server.close();
  return { ...total.figures(), "connections elsewhere": elsewhere.visits(), "left open": left };
}

function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

class Total {
  readonly #campaign: CampaignRun;
  readonly #rss = process.memoryUsage.rss();
  #peak = 0;
  readonly #ended = new Map<string, number>();
  readonly #recipes = new Set<string>();
  #timeouts = 0;
  #broken = 0;
  #count = 0;

  constructor(campaign: CampaignRun) {
    this.#campaign = campaign;
  }

  add(n: number, { recipe, ended, code, broken }: Verdict): void {
    const { seed } = this.#campaign;
    this.#ended.set(ended, (this.#ended.get(ended) ?? 0) + 1);
    this.#recipes.add(recipe);
    if (code === "ARCHIVE_TIMEOUT") this.#timeouts += 1;
    if (++this.#count % 100 === 0) this.#peak = Math.max(this.#peak, process.memoryUsage.rss());
    if (this.#count % 10_000 === 0) this.#campaign.say(`${this.#count} replies`);
    for (const what of broken) {
      if (++this.#broken <= TOLD_MAX)
        this.#campaign.broken(`reply ${n} (${recipe}): ${what}`, `--seed ${seed + n} --count 1`);
    }
  }

  figures(): Figures {
    const growth = this.#peak - this.#rss;
    if (growth > GROWTH_BYTES_MAX) this.#campaign.broken(`it grew by ${mib(growth)}`);
    const crashes = this.#ended.get("crash") ?? 0;
    const kinds = ["result", "refused", "inDoubt", "notSent"];
    return {
      "ways of answering": this.#recipes.size,
      ...Object.fromEntries(kinds.map((kind) => [kind, this.#ended.get(kind) ?? 0])),
      "of these timed out": this.#timeouts,
      "laws broken": this.#broken,
      crashes,
      "memory at the start and at most": `${mib(this.#rss)}, ${mib(this.#peak)}`,
    };
  }
}

const mib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;

await runCampaign({
  name: "hostile-replies",
  about: "malformed replies over real sockets; no crash, no false success, no secret elsewhere",
  unit: "replies",
  count: { short: 5_000, long: 100_000 },
  run,
});
