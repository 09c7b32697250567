import type { Command } from "commander";
import { archivesOf } from "../../config/archives.ts";
import type { Config } from "../../config/config.ts";
import type { Owner } from "../../journal/owner-lock.ts";
import { mountOf, readMounts, watchMode } from "../../source/mounts.ts";
import { noPages } from "../../sync/page-report.ts";
import { noDocuments, type StatusReport, statusOf } from "../../sync/status.ts";
import { outsideHours } from "../../sync/waiting.ts";
import { examples } from "../examples.ts";
import { readJournal, runningDaemon } from "../journals.ts";
import type { Shell } from "../shell.ts";
import { statusLines } from "../status-lines.ts";
import { type Trouble, troublesOf } from "../troubles.ts";

/** How often `--watch` looks again. */
const EVERY_MS = 1_000;

/** Home, and everything below it cleared. */
const REDRAW = "\u001b[H\u001b[J";

/** `scanferry status`: where things stand, with a daemon or without. */
export function addStatus(program: Command, shell: Shell): void {
  program
    .command("status")
    .description("tell where things stand, daemon running or not")
    .option("--json", "print one JSON object")
    .option("--watch", "look again every second, until Ctrl-C")
    .action(async ({ json, watch }: { json?: boolean; watch?: boolean }) => {
      const config = await shell.config();
      const print = json === true ? printJson : printText;
      await print(shell, await standingOf(config, shell.clock.now()), false);
      if (watch === true) await follow(shell, config, print);
    })
    .addHelpText("after", examples("scanferry status", "scanferry status --json | jq .documents"));
}

/** The report, who is at work, and why documents wait. */
type Standing = {
  readonly report: StatusReport;
  readonly owner: Owner | undefined;
  readonly troubles: readonly Trouble[];
};

type Print = (shell: Shell, standing: Standing, again: boolean) => Promise<void>;

const printJson: Print = async (shell, { report, owner }) => {
  const daemon = owner
    ? { pid: owner.pid, web: owner.web ?? null, startedAt: owner.startedAt }
    : null;
  await shell.out.line(JSON.stringify({ ...report, daemon }));
};

const printText: Print = async ({ out, clock }, standing, again) => {
  const { report, owner, troubles } = standing;
  const lines = statusLines(report, { owner, troubles, now: clock.now() }, out);
  if (out.isInteractive && again) await out.write(REDRAW);
  else if (again) await out.line();
  for (const line of lines) await out.line(line);
};

async function follow(shell: Shell, config: Config, print: Print): Promise<void> {
  const over = AbortSignal.any([shell.stopping(), shell.out.gone]);
  let last = "";
  while (!over.aborted) {
    try {
      await shell.clock.sleep(EVERY_MS, over);
    } catch {
      // Ctrl-C is how this ends.
      return;
    }
    const standing = await standingOf(config, shell.clock.now());
    const now = JSON.stringify(standing);
    // Where nothing is drawn over, only news is worth a line.
    if (shell.out.isInteractive || now !== last) await print(shell, standing, true);
    last = now;
  }
}

async function standingOf(config: Config, now: number): Promise<Standing> {
  const owner = await runningDaemon(config);
  await using journal = await readJournal(config);
  if (!journal) return { report: nothingYet(config, now), owner, troubles: [] };
  return {
    report: await statusOf(journal, config, owner !== undefined, now),
    owner,
    troubles: await troublesOf(journal),
  };
}

/** Where things stand before there is a journal. */
function nothingYet(config: Config, now: number): StatusReport {
  const mounts = readMounts();
  const pages = noPages(config.quota.pages, now);
  const quota = { blockedSince: null, nextProbeAt: null };
  const sending = { waits: outsideHours(config, now), concurrency: config.upload.concurrency };
  const archives = archivesOf(config).map(({ name, url }) => ({
    name,
    url,
    quota,
    gate: null,
    sending,
    allowance: pages.allowance,
  }));
  return {
    running: false,
    paused: false,
    documents: noDocuments(),
    quota,
    gate: null,
    sending: { ...sending, concurrency: sending.concurrency * archives.length },
    archives,
    mirrors: config.mirrors.map(({ name, source, archive, watch }) => ({
      name,
      source,
      archive,
      watch: watchMode(watch, mountOf(source, mounts)).mode,
      documents: noDocuments(),
      oldestAt: {},
    })),
    pages,
    duplicates: { documents: 0, pages: 0 },
    untold: 0,
    moved: [],
    foldersToCreate: [],
  };
}
