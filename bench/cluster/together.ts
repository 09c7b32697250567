/** Documents a second of one daemon, and of three on the same journal and tree. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Postgres } from "../../test/fixtures/postgres.ts";
import { BIN } from "../../test/fixtures/a-process.ts";
import { until } from "../../test/fixtures/until.ts";
import { ArchiveSink } from "../daemon/archive-sink.ts";
import { type Bench, check, inTurns, medianBy, rounded } from "../daemon/bench.ts";
import { costOf, cpuSecondsOf, parentOf } from "../daemon/cost.ts";
import { RunningDaemon } from "../daemon/running-daemon.ts";
import { type TreeSpec, treeOf } from "../daemon/tree.ts";
import { configured, type ClusterCase } from "./case.ts";

const LATENCY_MS = 20;
/** So few that three daemons wait for the archive, and not for one another's processor. */
const CONCURRENCY = 2;
const LOOK_MS = 50;
const PATIENCE_MS = 600_000;

/** What is measured lies between these parts of all documents: start and end are left out. */
const FROM = 0.2;
const TO = 0.9;

type Run = {
  readonly perSecond: number;
  /** Share of the time. */
  readonly idle: number;
  /** Processor milliseconds a document, of all daemons with their readers, and of the server. */
  readonly daemonsMs: number;
  readonly serverMs: number;
};

export const together: ClusterCase = {
  name: "together",
  async run(bench, postgres) {
    const spec = { files: bench.quick ? 1_000 : 6_000, bytes: 20_000, directories: 100 };
    const [ones = [], threes = []] = await inTurns(bench.rounds, [
      () => carried(bench, postgres, spec, ["a"]),
      () => carried(bench, postgres, spec, ["a", "b", "c"]),
    ]);
    const [one, three] = [medianBy(ones, perSecond), medianBy(threes, perSecond)];
    bench.find({
      what: `three daemons, ${spec.files.toLocaleString("en")} × 20 KB, ${LATENCY_MS} ms latency, ${CONCURRENCY} at once each`,
      ours: `${rounded(three.perSecond)} documents/s`,
      beside: `one ${rounded(one.perSecond)} documents/s`,
      value: three.perSecond / one.perSecond,
      bound: { atLeast: 2.7, unit: "×" },
    });
    bench.note(
      `three next to one: only ${CONCURRENCY} uploads at once for each daemon, since daemons, ` +
        "PostgreSQL and the archive share this machine's cores, and more would measure those; the " +
        `sink was idle for ${Math.round(100 * three.idle)} % of the time (with one daemon ` +
        `${Math.round(100 * one.idle)} %)`,
    );
    const cost = ({ daemonsMs, serverMs }: Run) =>
      `${rounded(daemonsMs)} ms in the daemons and ${rounded(serverMs)} ms in PostgreSQL`;
    bench.note(
      `processor time of a document: with one daemon ${cost(one)}, with three ${cost(three)}`,
    );
  },
};

const perSecond = (run: Run) => run.perSecond;

async function carried(
  bench: Bench,
  postgres: Postgres,
  spec: TreeSpec,
  instances: readonly string[],
): Promise<Run> {
  const source = treeOf(bench, spec);
  await using sink = await ArchiveSink.open({ latencyMs: LATENCY_MS });
  const { url, schema } = postgres.place();
  const journal = `${url}?schema=${schema}`;
  const dir = bench.place("cluster", schema);
  await using daemons = new AsyncDisposableStack();
  const settings = { journal, source, archive: sink.url, concurrency: CONCURRENCY };
  const configs = instances.map((instance) => configured(dir, instance, settings));
  const told = (words: string) => costOf(BIN, ["--config", configs[0] ?? "", ...words.split(" ")]);
  const start = (config: string) => daemons.use(new RunningDaemon(config, `${config}.log`));
  // One of them finds all of it first, which is no part of what is compared.
  const finder = new RunningDaemon(configs[0] ?? "", `${configs[0]}.log`);
  await finder.scanned(1);
  await told("pause");
  await until(
    "all files to be ready",
    async () => {
      const { stdout } = await told("status --json");
      const { documents } = JSON.parse(stdout) as { documents: Record<string, number> };
      return documents["settling"] === 0 && documents["uploading"] === 0;
    },
    PATIENCE_MS,
  );
  await finder.end();
  await finder[Symbol.asyncDispose]();
  const running = configs.map(start);
  await until(
    "all daemons to be there",
    async () => {
      const instances = await postgres.ask(`SELECT FROM ${schema}.instances WHERE NOT lost`);
      return instances.length === instances.length;
    },
    PATIENCE_MS,
  );
  const [part] = await postgres.ask(
    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'",
  );
  const server = parentOf(Number(part?.["pid"]));
  await told("resume");
  const spent = () => ({
    daemons: running.reduce((sum, { pid }) => sum + cpuSecondsOf(pid), 0),
    server: cpuSecondsOf(server),
  });
  const uploads = async (least: number) => {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      const report = await sink.report();
      const at = performance.now();
      if (report.uploads >= least) return { ...report, at };
      check(at < end, `${report.uploads} of ${least} uploads after ${PATIENCE_MS / 1_000} s`);
      await sleep(LOOK_MS);
    }
  };
  const first = await uploads(spec.files * FROM);
  const before = spent();
  const last = await uploads(spec.files * TO);
  const after = spent();
  const all = await uploads(spec.files);
  for (const daemon of running) await daemon.end();
  const { uploads: sent } = await sink.report();
  check(sent === spec.files && all.uploads === sent, `${sent} uploads of ${spec.files} files`);
  const seconds = (last.at - first.at) / 1_000;
  const documents = last.uploads - first.uploads;
  return {
    perSecond: documents / seconds,
    daemonsMs: (1_000 * (after.daemons - before.daemons)) / documents,
    serverMs: (1_000 * (after.server - before.server)) / documents,
    idle: 1 - (last.cpuMs - first.cpuMs) / 1_000 / seconds,
  };
}
