/**
 * More files at once than the kernel keeps events for, while nobody listens: `npm run campaign:drop`.
 *
 * Reader and daemon are stopped for four seconds, files are dropped over many folders, and both go on. Every
 * file must be journaled although the scheduled rescan is far away.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { SqliteJournal } from "../src/journal/sqlite-journal.ts";
import { aProcess } from "../test/fixtures/a-process.ts";
import { until } from "../test/fixtures/until.ts";
import { SECRET, aWorld } from "../test/fixtures/world.ts";
import { type CampaignRun, type Figures, runCampaign } from "./campaign.ts";

/** How long the reader's event loop stands still at least. */
const BLOCK_MS = 4_000;
/** Folders that are there, and watched, before the drop; and some that come with it. */
const FOLDERS = 100;
const NEW_FOLDERS = 20;
/** Found by then, or missed; the rescan of this run is further away. */
const FOUND_WITHIN_MS = 240_000;

async function run(campaign: CampaignRun): Promise<Figures> {
  const { seed, count } = campaign;
  await using world = await aWorld();
  const folders = Array.from({ length: FOLDERS + NEW_FOLDERS }, (_, n) => `box-${n}`);
  for (const name of folders.slice(0, FOLDERS)) mkdirSync(join(world.source, name));
  const config = world.configFile('schedule: { rescan: "0 0 1 1 *" }', "    watch: native");
  await using daemon = aProcess(["--config", config, "run"]);
  await daemon.says(/"scanned"/);
  // What is measured is what is seen, so nothing needs to be sent.
  await using pause = aProcess(["--config", config, "pause"]);
  if ((await pause.ended) !== 0) throw new Error(`pause: ${pause.output.stderr}`);
  const reader = await until("the reader", () => childOf(daemon.child.pid));
  const queue = Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8"));

  const stoppedAt = performance.now();
  const standing = [reader, daemon.child.pid ?? 0];
  for (const pid of standing) process.kill(pid, "SIGSTOP");
  for (const name of folders.slice(FOLDERS)) mkdirSync(join(world.source, name));
  for (let n = 0; n < count; n++) {
    const folder = folders[(n * 7 + seed) % folders.length] ?? "";
    writeFileSync(join(world.source, folder, `drop-${n}.txt`), `drop ${seed} ${n}\n`);
  }
  const droppedMs = performance.now() - stoppedAt;
  await delay(Math.max(0, BLOCK_MS - droppedMs));
  for (const pid of standing) process.kill(pid, "SIGCONT");
  const goesOnAt = performance.now();
  await using journal = await SqliteJournal.open({ path: world.journal, role: "reader" });
  const rows = await until(
    "every file",
    async () => ((await rowsIn(journal)) >= count ? rowsIn(journal) : undefined),
    FOUND_WITHIN_MS,
  ).catch(() => rowsIn(journal));
  const foundMs = performance.now() - goesOnAt;
  if (rows !== count) campaign.broken(`${count - rows} of ${count} files were missed`);
  if (childOf(daemon.child.pid) !== reader) campaign.broken("the reader did not survive it");
  const { stdout } = daemon.output;
  if (stdout.includes(SECRET)) campaign.broken("the secret came out");
  return {
    "files dropped": count,
    "over folders, of these new": `${folders.length}, ${NEW_FOLDERS}`,
    "stopped, ms": Math.round(Math.max(BLOCK_MS, droppedMs)),
    "the kernel keeps events": queue,
    seen: rows,
    "last seen after they went on, ms": Math.round(foundMs),
    "doubts it noticed": stdout.match(/events may be missing/g)?.length ?? 0,
  };
}

async function rowsIn(journal: SqliteJournal): Promise<number> {
  const counts = await journal.counts();
  return counts.reduce((sum, { documents }) => sum + documents, 0);
}

/** The only child of a process. */
function childOf(pid = 0): number | undefined {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  return child ? Number(child) : undefined;
}

await runCampaign({
  name: "drop",
  about: "files dropped while nobody listens, more than the kernel keeps events for",
  unit: "files",
  count: { short: 4_000, long: 20_000 },
  run,
});
