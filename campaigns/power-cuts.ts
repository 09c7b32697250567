/**
 * Power cuts under a volatile write cache: of a writer that commits intents to a journal, and of
 * the whole daemon. A control that does not wait for the disk must lose intents, or else the disk
 * that is cut proves nothing.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { aProcess } from "../test/fixtures/a-process.ts";
import { rowsOf } from "../test/fixtures/auditor.ts";
import { until } from "../test/fixtures/until.ts";
import { VolatileDisk } from "../test/fixtures/volatile-disk.ts";
import { aWorld } from "../test/fixtures/world.ts";
import { Dice } from "../test/simulation/dice.ts";
import { doubtsOf, restAndAudit, secretsSaid } from "./aftermath.ts";
import { type CampaignRun, type Figures, runCampaign } from "./campaign.ts";
import { DOUBT_WINDOW, Lateness } from "./judged-world.ts";
import type { LateStores } from "./late-stores.ts";
import { FOLDERS, ScanDropper } from "./scan-dropper.ts";

const WRITER = fileURLToPath(new URL("./intent-writer.ts", import.meta.url));

/** Of every so many cuts of the writer there is one of the control, and one of the daemon. */
const CONTROL_SHARE = 10;
const DAEMON_SHARE = 2;
/** Cuts of one world, before it is left to finish and audited. */
const WORLD_CUTS = 20;

await runCampaign({
  name: "power-cuts",
  about: "the power fails under a volatile write cache; what the journal acknowledged is there",
  unit: "cuts of a writer",
  count: { short: 8, long: 200 },
  async run(run) {
    const dir = mkdtempSync(join(tmpdir(), "scanferry-cuts-"));
    try {
      const missing = await VolatileDisk.missing(join(dir, "probe"));
      if (missing !== undefined) return { SKIPPED: `no disk can be cut here: ${missing}` };
      const dice = new Dice(run.seed);
      const full = await writerCuts(run, dir, dice, "synced", run.count);
      const controls = 3 + Math.ceil(run.count / CONTROL_SHARE);
      const control = await writerCuts(run, dir, dice, "unsynced", controls);
      const daemon = await daemonCuts(run, Math.ceil(run.count / DAEMON_SHARE));
      return { ...full, ...control, ...daemon };
    } finally {
      await rm(dir, { recursive: true, force: true }).catch((error) => run.say(String(error)));
    }
  },
});

type Syncing = "synced" | "unsynced";

async function writerCuts(
  run: CampaignRun,
  dir: string,
  dice: Dice,
  syncing: Syncing,
  cuts: number,
): Promise<Figures> {
  const total = { cuts: 0, acknowledged: 0, lost: 0, losingCuts: 0 };
  // One of ten falls where all is on the disk by chance: so may, rarely, the few of a short run.
  const most = syncing === "unsynced" ? 4 * cuts : cuts;
  for (let cut = 1; cut <= cuts || (cut <= most && total.lost === 0); cut++) {
    total.cuts = cut;
    const { acknowledged, lost, integrity } = await writerCut(dir, dice, syncing);
    total.acknowledged += acknowledged;
    total.lost += lost;
    if (lost > 0) total.losingCuts += 1;
    const name = `${syncing}, cut ${cut}`;
    if (syncing === "synced" && lost > 0) run.broken(`${name}: ${lost} of ${acknowledged} lost`);
    if (integrity !== "ok") run.broken(`${name}: integrity check: ${integrity}`);
    if (cut % 10 === 0) run.say(`${name} of ${cuts}: ${total.lost} intents lost so far`);
  }
  if (syncing === "unsynced" && total.lost === 0) {
    run.broken("the control lost nothing: these cuts prove nothing");
  }
  return {
    [`${syncing}: cuts`]: total.cuts,
    [`${syncing}: intents acknowledged`]: total.acknowledged,
    [`${syncing}: intents lost`]: `${total.lost}, in ${total.losingCuts} cuts`,
  };
}

/** A new disk, a writer on it, and the power fails. */
async function writerCut(dir: string, dice: Dice, syncing: Syncing) {
  const notes = join(dir, "acknowledged");
  rmSync(notes, { force: true });
  await using disk = await VolatileDisk.make(dir, join(dir, "mounted"));
  const journal = join(disk.point, "state", "journal.db");
  await disk.on();
  const writer = spawn(process.execPath, [WRITER, journal, notes, syncing], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  const ended = once(writer, "exit");
  await until("the first intent", () => existsSync(notes) && readFileSync(notes, "utf8") !== "");
  await sleep(dice.int(50, 600));
  await disk.cut(async () => {
    writer.kill("SIGKILL");
    await ended;
  });
  await disk.on();
  const acknowledged = readFileSync(notes, "utf8").trim().split("\n").map(Number);
  const rows = new Map((await rowsOf(journal)).map((row) => [row.id, row]));
  const lost = acknowledged.filter((id) => {
    const row = rows.get(id);
    return row?.state !== "uploading" || row.digest !== `digest-${id}`;
  });
  return { acknowledged: acknowledged.length, lost: lost.length, integrity: integrityOf(journal) };
}

function integrityOf(journal: string): string {
  const db = new Database(journal);
  try {
    return String(db.pragma("integrity_check", { simple: true }));
  } finally {
    db.close();
  }
}

/** The daemon's journal is on the disk, the archive and the sources are not. */
async function daemonCuts(run: CampaignRun, cuts: number): Promise<Figures> {
  const total = { documents: 0, found: 0, absent: 0 };
  const lateness = new Lateness();
  for (let done = 0, seed = run.seed; done < cuts; done += WORLD_CUTS, seed++) {
    const share = Math.min(WORLD_CUTS, cuts - done);
    const seen = await lateness.judge(run, (late) => oneWorld(run, seed, share, late));
    total.documents += seen?.documents ?? 0;
    total.found += seen?.found ?? 0;
    total.absent += seen?.absent ?? 0;
    run.say(`the daemon: ${Math.min(done + WORLD_CUTS, cuts)} cuts, ${total.documents} documents`);
  }
  return {
    "the daemon: cuts": cuts,
    "the daemon: documents archived": total.documents,
    "the daemon: replies lost to a cut": `${total.found} found in the archive, ${total.absent} not there and sent again`,
    ...lateness.figures,
  };
}

async function oneWorld(run: CampaignRun, seed: number, cuts: number, late: LateStores) {
  const dice = new Dice(seed);
  const folders = FOLDERS.filter((folder) => folder !== "").map((folder) => `/Scans/${folder}`);
  await using world = await aWorld({ convertDelayMs: 100, folders, onStored: late.note });
  await using disk = await VolatileDisk.make(join(world.dir, "power"), dirname(world.journal));
  await disk.on();
  const config = world.configFile("", "", DOUBT_WINDOW);
  const dropper = new ScanDropper(world.source, dice);
  const dropping = setInterval(() => dropper.step(), 70);
  try {
    for (let cut = 0; cut < cuts; cut++) {
      await using daemon = aProcess(["--config", config, "run"]);
      await daemon.says(/"started"/);
      await sleep(dice.int(0, 1_200));
      await disk.cut(() => daemon.end("SIGKILL"));
      for (const problem of secretsSaid(daemon.output)) run.broken(problem);
      await disk.on();
    }
  } finally {
    clearInterval(dropping);
  }
  const problems = await restAndAudit(world, dropper, late);
  for (const problem of problems) run.broken(`the daemon, seed ${seed}: ${problem}`);
  return { documents: world.archive.documents().length, ...(await doubtsOf(world.journal)) };
}
