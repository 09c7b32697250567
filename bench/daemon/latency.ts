/**
 * From the last write of a file to the start of its sending, many files dropped in one go: into a daemon that
 * has sent some before, for it runs for years. What the first drop after its start takes stands below the table:
 * V8 has compiled nothing then that is used for sending.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ArchiveSink } from "./archive-sink.ts";
import { type Bench, type Case, check, medianBy } from "./bench.ts";
import { Home } from "./home.ts";

const SETTLE_MS = 1_000;
const DIRECTORIES = 10;
const FIRST = 100;
/** Sent before the drop, and the rest that follows, ms: sweeps and checkpoints of what went before are over. */
const BEFORE = { files: 1_000, restMs: 3_000 } as const;
/** Long beyond the time that all of it takes: what is not there by then is missed. */
const PATIENCE_MS = 120_000;

/** Beyond the settle time, ms. */
type Delays = { readonly firstP99: number; readonly allP50: number; readonly allP99: number };

export const latency: Case = {
  name: "latency",
  async run(bench) {
    const files = bench.quick ? 300 : 10_000;
    const rounds: Delays[] = [];
    for (let round = 0; round < bench.rounds; round++) {
      rounds.push(await roundOf(bench, files, BEFORE.files));
    }
    const cold = await roundOf(bench, files, 0);
    const { firstP99, allP50, allP99 } = medianBy(rounds, (each) => each.firstP99);
    const count = files.toLocaleString("en");
    for (const [whose, value, atMost] of [
      [`the first ${FIRST}`, firstP99, 150],
      ["all", allP99, 3_000],
    ] as const) {
      bench.find({
        what: `${count} dropped: delay beyond \`settle\`, p99 of ${whose}`,
        ours: `median ${Math.round(allP50)} ms`,
        beside: "",
        value,
        bound: { atMost, unit: "ms" },
      });
    }
    bench.note(
      `the drop: a daemon that was just started began with the first ${FIRST} within ${Math.round(cold.firstP99)} ms (p99), with all of them within ${Math.round(cold.allP99)} ms`,
    );
  },
};

async function roundOf(bench: Bench, files: number, before: number): Promise<Delays> {
  const source = bench.place("drop");
  const home = new Home(bench, "latency");
  home.forget();
  for (let index = 0; index < DIRECTORIES; index++) mkdirSync(join(source, `d00${index}`));
  await using sink = await ArchiveSink.open();
  home.configure({ source, archive: sink.url, settle: `${SETTLE_MS}ms` });
  await using daemon = home.run();
  await daemon.scanned(1);
  drop(source, "before", before);
  await arrived(sink, before);
  if (before > 0) await sleep(BEFORE.restMs);
  const wroteAt = drop(source, "drop", files);
  const arrivals = (await arrived(sink, before + files)).filter(([name]) => wroteAt.has(name));
  await daemon.end();
  rmSync(source, { recursive: true });
  const names = new Set(arrivals.map(([name]) => name));
  check(names.size === files, `${names.size} of ${files} files arrived`);
  check(arrivals.length === files, `${arrivals.length} uploads of ${files} files`);
  const delays = arrivals.map(([name, at]) => at - (wroteAt.get(name) ?? Number.NaN) - SETTLE_MS);
  const p99 = (some: readonly number[]) => percentile(some, 0.99);
  const first = p99(delays.slice(0, FIRST));
  return { firstP99: first, allP50: percentile(delays, 0.5), allP99: p99(delays) };
}

/** Writes them all; when each was finished, epoch ms. */
function drop(source: string, word: string, files: number): Map<string, number> {
  const wroteAt = new Map<string, number>();
  const content = Buffer.alloc(20_000, "scan");
  for (let index = 0; index < files; index++) {
    const name = `${word}-${index}.txt`;
    content.write(name);
    writeFileSync(join(source, `d00${index % DIRECTORIES}`, name), content);
    wroteAt.set(name, Date.now());
  }
  return wroteAt;
}

/** In the order in which their sending began. */
async function arrived(sink: ArchiveSink, files: number) {
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until && (await sink.report()).uploads < files) await sleep(50);
  const { arrivals } = await sink.report(true);
  return arrivals.toSorted(([, a], [, b]) => a - b);
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
}
