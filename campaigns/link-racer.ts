/**
 * Links in place of files and directories, in the blink of an eye: `npm run campaign:link-racer`.
 *
 * A process of its own exchanges names in the source with links to whole, tempting documents
 * outside, while a daemon scans, inspects and sends. A tap before the archive reads along.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import { aProcess } from "../test/fixtures/a-process.ts";
import { audit, digestOf } from "../test/fixtures/auditor.ts";
import { pdfOf } from "../test/fixtures/documents.ts";
import { SECRET, type World, aWorld } from "../test/fixtures/world.ts";
import { type CampaignRun, type Figures, runCampaign } from "./campaign.ts";
import { DOUBT_WINDOW } from "./judged-world.ts";
import { probe } from "./link-racer/probes.ts";
import { Tap } from "./link-racer/tap.ts";

/** In every document outside, and nowhere else. */
const OUTSIDE = "MUST-NEVER-LEAVE";
const FILES = Array.from({ length: 8 }, (_, n) => `scan-${n}.pdf`);
const DIRECTORIES = Array.from({ length: 4 }, (_, n) => `box-${n}`);
const PATHS = [...FILES, ...DIRECTORIES.map((name) => `${name}/inner.pdf`)];
/** The longest pause between two swaps, seconds. */
const PAUSE_S = 0.006;
/** A file is written again this often, so that there is always something to send. */
const WRITE_MS = 40;

async function run(campaign: CampaignRun): Promise<Figures> {
  await using world = await aWorld({ folders: DIRECTORIES.map((name) => `/Scans/${name}`) });
  await using tap = await Tap.open(world.archive.url, OUTSIDE);
  const links = join(world.dir, "links");
  const written = layOut(world, links);
  const config = configOf(world, tap);
  await using daemon = aProcess(["--config", config, "run"]);
  await daemon.says(/"started"/);
  const over = new AbortController();
  const rescans = setInterval(() => daemon.child.kill("SIGUSR1"), 300);
  const writing = keepWriting(world, written, over.signal);
  const probing = probe(world.source, PATHS, OUTSIDE, over.signal);
  const swaps = await race(campaign, world.source, links);
  clearInterval(rescans);
  over.abort();
  const probes = await probing;
  await writing;
  await daemon.end("SIGTERM");
  const sync = aProcess(["--config", config, "sync"]);
  const code = await sync.ended;
  if (code !== 0) campaign.broken(`the last pass ended with ${code}: ${sync.output.stderr}`);
  await world.archive.idle();

  if (tap.found > 0) campaign.broken(`outside bytes were sent ${tap.found} times`);
  if (probes.outside > 0) campaign.broken(`outside bytes were read ${probes.outside} times`);
  if (probes.naiveOutside === 0) campaign.broken("the race was never won: it proves nothing");
  for (const problem of await audit(world, { formerly: [...written] })) campaign.broken(problem);
  const said = daemon.output.stdout + daemon.output.stderr + sync.output.stderr;
  if (said.includes(SECRET) || readFileSync(world.journal).includes(SECRET))
    campaign.broken("the secret came out");
  return {
    swaps,
    "versions written": written.size,
    "documents archived": world.archive.documents().length,
    "bytes sent past the tap": tap.bytes,
    "outside bytes sent (times)": tap.found,
    "files opened as the reader opens them": probes.opens,
    "of these refused": probes.refusals,
    "outside bytes read so (times)": probes.outside,
    "outside bytes read by a naive reader (times)": probes.naiveOutside,
  };
}

/** Files and directories in the source, links of the same names next to it, what they lead to outside. */
function layOut(world: World, links: string): Set<string> {
  const outside = join(world.dir, "outside");
  mkdirSync(links);
  const digests = PATHS.map((path, seed) => {
    const target = join(outside, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, pdfOf(1, { text: OUTSIDE, seed }));
    const bytes = pdfOf(1, { seed: 1_000 + seed });
    world.write(path, bytes);
    return digestOf(bytes);
  });
  for (const name of [...FILES, ...DIRECTORIES])
    symlinkSync(join(outside, name), join(links, name));
  return new Set(digests);
}

/** What is settled at once is inspected and sent in the middle of the race. */
function configOf(world: World, tap: Tap): string {
  const config = world.configFile("", "", DOUBT_WINDOW);
  const text = readFileSync(config, "utf8");
  const raced = text.replace(world.archive.url, tap.url).replace("settle: 300ms", "settle: 5ms");
  writeFileSync(config, raced, { mode: 0o600 });
  return config;
}

/** New versions of the files where they are their real selves; written aside and put there at once. */
async function keepWriting(world: World, written: Set<string>, over: AbortSignal): Promise<void> {
  for (let n = 0; !over.aborted; n++) {
    const bytes = pdfOf(1, { seed: 10_000 + n });
    written.add(digestOf(bytes));
    world.write(`new-${n % 20}.pdf`, bytes);
    await delay(WRITE_MS);
  }
}

/** Runs the racer to its end; how often it swapped. */
async function race({ seed, count }: CampaignRun, source: string, links: string): Promise<number> {
  const folder = (name: string) => fileURLToPath(new URL(`./link-racer/${name}`, import.meta.url));
  const canExchange = spawnSync("python3", ["-c", "import ctypes; ctypes.CDLL(None).renameat2"]);
  const [command, script] =
    canExchange.status === 0 ? ["python3", "racer.py"] : [process.execPath, "racer.mjs"];
  const names = [...FILES, ...DIRECTORIES];
  const words = [folder(script), String(count), String(PAUSE_S), String(seed), source, links];
  const racer = spawn(command, [...words, ...names], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  racer.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const [code] = (await once(racer, "close")) as [number | null];
  if (code !== 0) throw new Error(`the racer ended with ${code}`);
  return Number(said);
}

await runCampaign({
  name: "link-racer",
  about: "files and directories are swapped for links out of the source; nothing outside is sent",
  unit: "swaps",
  count: { short: 500, long: 10_000 },
  run,
});
