import { stat } from "node:fs/promises";
import type { Command } from "commander";
import { archivesOf, type Config } from "../../config/config.ts";
import { STATES } from "../../domain/document.ts";
import { targetPathOf } from "../../domain/naming.ts";
import { isPassing } from "../../journal/journal-fault.ts";
import type { Owner } from "../../journal/owner-lock.ts";
import type { Finding } from "../../report/finding.ts";
import { findingsOf } from "../../report/findings.ts";
import { titles } from "../../report/finding-text.ts";
import { lowDiskOf, standingOf, summaryOf } from "../../report/standing.ts";
import { mountOf, readMounts, watchMode } from "../../source/mounts.ts";
import { ROOT } from "../../std/raw-path.ts";
import { NO_NOTE } from "../../sync/away.ts";
import { outsideHours } from "../../sync/pace.ts";
import type { Shell } from "../shell.ts";
import { type DaemonHealth, daemonHealth, statusLines } from "../status-lines.ts";
import { noDocuments, statusOf, type StatusReport } from "../../report/status.ts";
import { noPages } from "../../report/page-report.ts";
import { readJournal, runningDaemon } from "../../journal/open-journal.ts";
import { examples } from "../option-values.ts";
import { isKeyboard, quitKeys } from "../questions.ts";

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

/**
 * A report that keeps itself up to date. On a terminal it is drawn in place, on the alternate screen,
 * so that what was there before comes back; elsewhere each piece of news is a line.
 */

/** How often it is asked whether there is news, and how often it is drawn all the same. */
const WATCH_MS = 250;
const DRAW_MS = 1_000;

const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const END_OF_LINE = "\u001b[K";
const END_OF_SCREEN = "\u001b[J";

/** A `mark` or `look` that rejects ends the watching with that. */
type WatchOptions<T> = {
  /** Something that changes when there is news. */
  readonly mark: () => Promise<unknown>;
  readonly look: () => Promise<T>;
  /** Lines for the screen. */
  readonly draw: (what: T) => readonly string[];
  /** One line of news where there is no screen; the same text twice is printed once. */
  readonly tell: (what: T) => string;
};

/** Follows until the person quits, the process is asked to stop, or nobody reads any more. */
export async function watch<T>(shell: Shell, watched: WatchOptions<T>): Promise<void> {
  return shell.out.isInteractive ? watchScreen(shell, watched) : watchLines(shell, watched);
}

/** Follows line by line, also on a terminal. */
async function watchLines<T>(shell: Shell, watched: Omit<WatchOptions<T>, "draw">): Promise<void> {
  const { out } = shell;
  const over = AbortSignal.any([shell.untilStopped(), out.gone]);
  let last = "";
  // News comes no faster than a person, or a log, can take it.
  await follow(shell, watched, { everyMs: DRAW_MS, over }, async (what) => {
    const text = watched.tell(what);
    if (text !== last) await out.line(text);
    last = text;
  });
}

async function watchScreen<T>(shell: Shell, watched: WatchOptions<T>): Promise<void> {
  const { out } = shell;
  const { stdin } = shell.processContext;
  const quit = new AbortController();
  const over = AbortSignal.any([shell.untilStopped(), out.gone, quit.signal]);
  using _keys = isKeyboard(stdin) ? quitKeys(stdin, () => quit.abort()) : undefined;
  let shown: readonly string[] = [];
  await out.draw(ENTER);
  try {
    await follow(shell, watched, { everyMs: WATCH_MS, over }, async (what) => {
      shown = watched.draw(what);
      const lines = [...shown, "", out.paint("dim", "q quits")];
      const text = lines.map((line) => `${out.clean(line)}${END_OF_LINE}`).join("\r\n");
      await out.draw(`${HOME}${text}${END_OF_SCREEN}`);
    });
  } finally {
    await out.draw(LEAVE);
  }
  // What was seen last stays.
  for (const line of shown) await out.line(line);
}

async function follow<T>(
  { clock }: Shell,
  { mark, look }: Pick<WatchOptions<T>, "mark" | "look">,
  { everyMs, over }: { everyMs: number; over: AbortSignal },
  show: (what: T) => Promise<void>,
): Promise<void> {
  let known: unknown;
  let shownAt = Number.NEGATIVE_INFINITY;
  while (!over.aborted) {
    const now = await mark();
    if (now !== known || clock.monotonic() - shownAt >= DRAW_MS) {
      await show(await look());
      known = now;
      shownAt = clock.monotonic();
    }
    try {
      await clock.sleep(everyMs, over);
    } catch {
      // To be asked to stop is how this ends.
      return;
    }
  }
}
