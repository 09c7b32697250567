/**
 * One document's life, ended at every single call by which a process of ours changes anything:
 * the daemon's (journal, archive, reader) and the reader's (archive, users' files, daemon); and
 * every write and sync of the journal refused once.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aProcess, childrenOf, type Running } from "../test/fixtures/a-process.ts";
import { audit, digestOf } from "../test/fixtures/auditor.ts";
import { pdfOf } from "../test/fixtures/documents.ts";
import { until } from "../test/fixtures/until.ts";
import { aWorld, type World } from "../test/fixtures/world.ts";
import { secretsSaid, secretsWritten } from "./aftermath.ts";
import { type CampaignRun, runCampaign } from "./campaign.ts";
import { injecting, type Point, pointsOf, traced } from "./io-points.ts";

/** Lives at a time: most of each is waiting. */
const LANES = 3;
/** A life takes seconds; a loaded machine may take a minute over it. */
const HUNG_MS = 180_000;

/** Longer than the archive takes to store a document whose sender died; what is not there costs so long. */
const DOUBT_WINDOW = "5s";

const NAME = "scan.pdf";
const DOCUMENT = pdfOf(1, { seed: 1 });

type Target = "daemon" | "reader";
type Case = { readonly target: Target; readonly point: Point };
type Total = Map<string, number>;

await runCampaign({
  name: "kill-points",
  about: "a fault at every I/O call of one document's life, in the daemon and in its reader",
  unit: "points at most",
  count: { short: 30, long: 10_000 },
  async run(run) {
    const cases = await casesOf();
    const every = Math.max(1, cases.length / run.count);
    const offset = run.seed % Math.ceil(every);
    const chosen = cases.filter((_, at) => Math.floor((at + offset) % every) === 0);
    run.say(`${cases.length} points; ${chosen.length} of them in this run`);
    const total: Total = new Map();
    const queue = chosen.values();
    await Promise.all(Array.from({ length: LANES }, () => lane(run, queue, total)));
    return {
      points: chosen.length,
      ...Object.fromEntries([...total].toSorted(([a], [b]) => a.localeCompare(b))),
    };
  },
});

async function casesOf(): Promise<Case[]> {
  const daemon = await traced((within) =>
    inWorld(async (world) => {
      world.write(NAME, DOCUMENT);
      await pass(world, within);
    }),
  );
  const reader = await traced(
    (within) => inWorld(async (world) => void (await carried(world, within))),
    ["-f"],
  );
  return [
    ...pointsOf(daemon, true).map((point) => ({ target: "daemon", point }) as const),
    ...pointsOf(reader, false).map((point) => ({ target: "reader", point }) as const),
  ];
}

async function lane(run: CampaignRun, queue: Iterator<Case>, total: Total): Promise<void> {
  for (let next = queue.next(); !next.done; next = queue.next()) {
    const { target, point } = next.value;
    const name = `${target} ${point.injection} at ${point.call} ${point.k}`;
    try {
      const ending = await inWorld((world) => oneCase(world, next.value));
      const kind = `${target}, ${point.injection}: ${ending.how}`;
      total.set(kind, (total.get(kind) ?? 0) + 1);
      const done = [...total.values()].reduce((sum, times) => sum + times, 0);
      if (done % 50 === 0) run.say(`${done} points`);
      for (const problem of ending.problems) run.broken(`${name}: ${problem}`);
    } catch (error) {
      run.broken(`${name}: ${String(error)}`);
    }
  }
}

type Ending = { readonly how: string; readonly problems: readonly string[] };

async function oneCase(world: World, { target, point }: Case): Promise<Ending> {
  if (target === "reader") {
    const died = await carried(world, injecting(point, ["-f"]));
    const how = died ? "another took over" : "not reached";
    return { how, problems: await problemsIn(world) };
  }
  world.write(NAME, DOCUMENT);
  const first = await pass(world, injecting(point));
  const problems = clearly(point, first);
  const second = await pass(world, []);
  if (second.code !== 0) problems.push(`the next pass ended with ${second.code}: ${second.stderr}`);
  problems.push(...(await problemsIn(world)), ...secretsSaid(first, second));
  return {
    how: first.code === 0 ? "not reached, or did no harm" : `ended with ${first.code}`,
    problems,
  };
}

/** A refused journal ends the pass with 1 and one line that names it, or harms nothing. */
function clearly({ injection }: Point, { code, stderr }: Pass): string[] {
  if (injection === "signal=KILL") return code === "SIGKILL" || code === 0 ? [] : [`code ${code}`];
  if (code === 0) return [];
  const last = stderr.trim().split("\n").at(-1) ?? "";
  return code === 1 && /journal/.test(last) ? [] : [`ended with ${code} and: ${stderr}`];
}

/** The file was moved away or is still there, as it was; journal and archive fit together. */
async function problemsIn(world: World): Promise<string[]> {
  await world.archive.idle();
  const digest = digestOf(DOCUMENT);
  const places = [join(world.source, NAME), join(world.dir, "done", NAME)].filter(existsSync);
  const whole = places.filter((place) => digestOf(readFileSync(place)) === digest);
  const stored = world.archive.documents().length;
  return [
    ...(whole.length === 1 ? [] : [`the file is in ${whole.length} places`]),
    ...(stored === 1 ? [] : [`${stored} documents in the archive`]),
    ...(await audit(world, { formerly: [digest] })),
    ...secretsWritten(world),
  ];
}

async function inWorld<T>(use: (world: World) => Promise<T>): Promise<T> {
  await using world = await aWorld();
  // Whatever waits does so for less long.
  const config = world.configFile("", `    after: "move:${world.dir}/done"`, DOUBT_WINDOW);
  writeFileSync(config, readFileSync(config, "utf8").replace("settle: 300ms", "settle: 100ms"));
  return await use(world);
}

type Pass = {
  readonly code: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
};

/** One pass over the document, from the start of the process to its end. */
async function pass(world: World, within: readonly string[]): Promise<Pass> {
  await using running = aProcess([...configured(world), "sync"], {}, within);
  const code = await inTime("the pass", running.ended);
  return { code, ...running.output };
}

function configured(world: World): string[] {
  return ["--config", join(world.dir, "scanferry.yaml")];
}

/**
 * A daemon at work, strace at its reader, and then a document; ends when it was moved or deleted. True
 * when the reader had died meanwhile.
 */
async function carried(world: World, within: readonly string[]): Promise<boolean> {
  await using daemon = aProcess([...configured(world), "run"]);
  await daemon.says(/"scanned"/);
  const [reader] = childrenOf(daemon.child.pid);
  if (reader === undefined) throw new Error("no reader");
  const [command = "", ...rest] = within.filter((word) => word !== "-qq");
  const strace = spawn(command, [...rest, "-p", String(reader)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  try {
    await once(strace.stderr, "data");
    world.write(NAME, DOCUMENT);
    // Killed while it moves the file, a reader leaves it in both places to its successor.
    const isAfterAction = () =>
      existsSync(join(world.dir, "done", NAME)) && readdirSync(world.source).length === 0;
    await until("the document to be moved or deleted", isAfterAction, HUNG_MS);
    await ended(daemon);
    return daemon.output.stdout.includes("reader ended");
  } finally {
    strace.kill("SIGKILL");
  }
}

async function ended(daemon: Running): Promise<void> {
  const code = await inTime("the daemon", daemon.end("SIGTERM"));
  if (code !== 0) throw new Error(`SIGTERM ended the daemon with ${code}: ${daemon.output.stderr}`);
}

async function inTime<T>(what: string, coming: Promise<T>): Promise<T> {
  const late = AbortSignal.timeout(HUNG_MS);
  const hung = once(late, "abort").then(() => Promise.reject(new Error(`${what} did not end`)));
  return await Promise.race([coming, hung]);
}
