import { stat } from "node:fs/promises";
import type { Command } from "commander";
import { archivesOf } from "../../config/config.ts";
import type { Config } from "../../config/config.ts";
import { STATES } from "../../domain/document.ts";
import { targetPathOf } from "../../domain/naming.ts";
import { isPassing } from "../../journal/journal-fault.ts";
import type { Owner } from "../../journal/owner-lock.ts";
import type { Finding } from "../../report/finding.ts";
import { findingsOf } from "../../report/findings.ts";
import { titles } from "../../report/finding-text.ts";
import { lowDiskOf, standingOf } from "../../report/standing.ts";
import { summaryOf } from "../../report/summary.ts";
import { mountOf, readMounts, watchMode } from "../../source/mounts.ts";
import { ROOT } from "../../std/raw-path.ts";
import { NO_NOTE } from "../../sync/away.ts";
import { outsideHours } from "../../sync/pace.ts";
import type { Shell } from "../shell.ts";
import { type DaemonHealth, daemonHealth, statusLines } from "../status-lines.ts";
import { watch, watchLines } from "../watch-loop.ts";
import { noDocuments, statusOf, type StatusReport } from "../../report/status.ts";
import { noPages } from "../../report/page-report.ts";
import { readJournal, runningDaemon } from "../../journal/open-journal.ts";
import { examples } from "../option-values.ts";

/** For the line on which the next command is typed. */
const PROMPT_ROWS = 1;
/** With `--watch`: how it is ended, and a blank line before it. */
const FOOTER_ROWS = 2;

type Options = { readonly json?: boolean; readonly watch?: boolean; readonly all?: boolean };

/** `scanferry status`: where things stand, with a daemon or without. */
export function addStatus(program: Command, shell: Shell): void {
  program
    .command("status")
    .description("show the current state; the daemon may run or not")
    .option("--json", "print one JSON object; with --watch, one a line")
    .option("--watch", "update it until q or Ctrl-C")
    .option("--all", "print everything, not only what fits on the screen")
    .action((options: Options) => status(shell, options))
    .addHelpText("after", examples("scanferry status", "scanferry status --json | jq .documents"));
}

async function status(shell: Shell, options: Options): Promise<void> {
  const config = await shell.config();
  const { out, clock } = shell;
  const look = () => seenNow(config, clock.now());
  if (options.watch !== true) {
    const standing = await look();
    const rows = options.all === true ? Number.POSITIVE_INFINITY : out.rows - PROMPT_ROWS;
    const lines = options.json ? [jsonOf(standing)] : linesOf(standing, shell, rows, true);
    for (const line of lines) await out.line(line);
    return;
  }
  if (options.json === true) return watchJson(shell, config, look);
  await watch(shell, {
    mark: () => markOf(config, clock.now()),
    look,
    draw: (standing) => linesOf(standing, shell, out.rows - FOOTER_ROWS),
    tell: newsOf,
  });
}

/** The report, who is at work, and what is wrong. */
type Seen = {
  readonly report: StatusReport;
  readonly owner: Owner | undefined;
  readonly findings: readonly Finding[];
  /** What the daemon says of its own; undefined: nobody answers at its page. */
  readonly health: DaemonHealth | undefined;
};

function jsonOf({ report, owner, health, findings }: Seen): string {
  const daemon = owner
    ? { pid: owner.pid, web: owner.web ?? null, startedAt: owner.startedAt }
    : null;
  return JSON.stringify({ ...report, findings, daemon, health: health ?? null });
}

/** `scrolls`: the screen may scroll where findings need more lines. */
function linesOf(standing: Seen, shell: Shell, rowsMax: number, scrolls = false): string[] {
  const { report, ...around } = standing;
  return statusLines(report, { ...around, now: shell.clock.now(), scrolls }, shell.out, rowsMax);
}

/** What is wrong, or where the documents are, and the numbers, in one line. */
function newsOf({ report, findings }: Seen): string {
  const wrong = titles(findings.filter(({ severity }) => severity !== "info"));
  const news = wrong.length > 0 ? wrong : [summaryOf(report).title];
  const numbers = STATES.filter((state) => report.documents[state] > 0).map(
    (state) => `${report.documents[state]} ${state}`,
  );
  return [...news, ...numbers].join("; ");
}

/** For programs: the same lines on a terminal and elsewhere. */
function watchJson(shell: Shell, config: Config, look: () => Promise<Seen>): Promise<void> {
  const told = { mark: () => markOf(config, shell.clock.now()), look, tell: jsonOf };
  return watchLines(shell, told);
}

/** A database does not tell unasked: it is looked at from time to time, this often, milliseconds. */
const LOOK_MS = 2_000;

/** Every write to the journal shows in one of its files. */
async function markOf({ journal }: Config, now: number): Promise<string> {
  if (typeof journal !== "string") return String(Math.floor(now / LOOK_MS));
  const marks = await Promise.all(
    [journal, `${journal}-wal`].map(async (path) => {
      try {
        const { mtimeMs, size } = await stat(path);
        return `${mtimeMs} ${size}`;
      } catch {
        return "";
      }
    }),
  );
  return marks.join();
}

async function seenNow(config: Config, now: number): Promise<Seen> {
  const owner = await runningDaemon(config);
  const health = await daemonHealth(config, owner);
  const running = owner !== undefined || health?.healthy === false;
  const known = { health, lowDisk: await lowDiskOf(config) };
  const none = () => {
    const report = nothingYet(config, now, running);
    return { report, owner, findings: findingsOf({ report, problems: [], ...known }), health };
  };
  try {
    await using journal = await readJournal(config);
    if (!journal) return none();
    const report = await statusOf(journal, config, running, now);
    return { ...(await standingOf(journal, report, known)), owner, health };
  } catch (error) {
    // The daemon says why, and that it waits.
    if (!isPassing(error) || health?.healthy !== false) throw error;
    return none();
  }
}

/** Where things stand before there is a journal, or while it cannot be read. */
function nothingYet(config: Config, now: number, running: boolean): StatusReport {
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
    outage: null,
    allowance: pages.allowance,
  }));
  return {
    running,
    paused: false,
    documents: noDocuments(),
    quota,
    gate: null,
    sending: { ...sending, concurrency: sending.concurrency * archives.length },
    archives,
    mirrors: config.mirrors.map(({ name, source, archive, target, watch }) => ({
      name,
      source,
      archive,
      target: targetPathOf(target, ROOT),
      watch: watchMode(watch, mountOf(source, mounts)).mode,
      ...NO_NOTE,
      learnedSettle: null,
      documents: noDocuments(),
      oldestAt: {},
    })),
    formerMirrors: [],
    instances: [],
    pages,
    duplicates: { documents: 0, pages: 0 },
    undelivered: 0,
    movedDocuments: 0,
    moved: [],
    afterPending: [],
    afterFailed: [],
    foldersToCreate: [],
  };
}
