import type { Command } from "commander";
import { EXIT, Interrupted } from "../exit.ts";
import { type Standing, standingOf } from "../../report/standing.ts";
import { oneLine } from "../../report/finding-text.ts";
import { Progress } from "../progress.ts";
import type { Shell } from "../shell.ts";
import { growSlowly } from "../../std/heap.ts";
import { assertOpenFiles } from "../../std/open-files.ts";
import { secretsOf } from "../../config/config.ts";
import type { StatusReport } from "../../report/status.ts";
import { examples } from "../option-values.ts";
import type { Daemon } from "../../daemon/daemon.ts";
import type { IdleWait, PassReport } from "../../daemon/idle.ts";

type Options = { readonly wait: boolean; readonly json?: boolean };

/** `scanferry sync`: one pass, in the foreground. */
export function addSync(program: Command, shell: Shell): void {
  program
    .command("sync")
    .description("one pass: scan, send, wait until CONVERTED, end")
    .option("--no-wait", "end when everything is uploaded")
    .option("--json", "print only one JSON object, at the end")
    .action((options: Options) => sync(shell, options))
    .addHelpText("after", examples("scanferry sync", "scanferry sync --no-wait"));
}

async function sync(shell: Shell, { wait, json = false }: Options): Promise<void> {
  // Loaded only here: it is most of the program, and the other commands start twice as fast.
  const { prepareReader } = await import("../../reader/fork-reader.ts");
  using _reader = prepareReader();
  const { Daemon } = await import("../../daemon/daemon.ts");
  const { warningsTo } = await import("../run-program.ts");
  growSlowly();
  assertOpenFiles();
  const { clock, random } = shell.processContext;
  const stopping = shell.stopping();
  const config = await shell.config();
  // What is for a program stays clean; a person at its terminal sees how it goes all the same.
  const progress = new Progress(json ? shell.err : shell.out, clock, json);
  const log = warningsTo(shell.err, secretsOf(config), () => progress.giveWay());
  try {
    await using daemon = await Daemon.open({
      config,
      log,
      clock,
      random,
      web: false,
      tells: false,
      ending: stopping,
      journaled: (applied) => progress.journaled(applied),
    });
    const { documents, gate } = await daemon.status();
    // A person's word: what stopped the account may be over.
    if (gate) await daemon.probe();
    progress.begin(documents);
    const report = await onePass(daemon, { waitConverted: wait }, stopping);
    progress.end();
    const pass = await passOf(daemon, report);
    const lines = json ? [jsonOf(pass, progress)] : textOf(pass, progress, clock.now());
    for (const line of lines) await shell.out.line(line);
    shell.exitCode = isSettled(report, wait) ? EXIT.done : EXIT.unsettled;
  } finally {
    progress.end();
  }
}

/** Whether all is done: nothing is unfinished, and with `wait` nothing is that the archive has not converted. */
function isSettled({ documents, mirrors }: StatusReport, wait: boolean): boolean {
  const { held, failed, settling, pending, uploaded } = documents;
  const left = held + failed + settling + pending + (wait ? uploaded : 0);
  return left === 0 && mirrors.every(({ unread }) => unread === null);
}

/** What this pass itself did. */
type Done = { readonly sent: number; readonly converted: number };

function textOf({ report, findings }: Standing, { sent, converted }: Done, now: number): string[] {
  const { held, failed, settling, uploaded } = report.documents;
  const left = uploaded === 0 ? "" : `, ${uploaded} not CONVERTED yet`;
  const unfinished = settling === 0 ? "" : `, unfinished ${settling}`;
  return [
    ...findings.map((finding) => oneLine(finding, now)),
    `sent ${sent}, converted ${converted}${left}, held ${held}, failed ${failed}${unfinished}`,
  ];
}

function jsonOf({ report, problems, findings }: Standing, { sent, converted }: Done): string {
  const { documents, paused, sending, gate, foldersToCreate, mirrors } = report;
  return JSON.stringify({
    sent,
    converted,
    documents,
    paused,
    gate,
    waits: sending.waits,
    problems: problems,
    findings,
    foldersToCreate,
    unread: mirrors.flatMap(({ name, unread }) => (unread ? { mirror: name, ...unread } : [])),
  });
}

/** What the end of a pass has left: from here on nobody tries it again, which needs no word of its own. */
export async function passOf(
  { journal }: Pick<Daemon, "journal">,
  report: StatusReport,
): Promise<Standing> {
  const left = await standingOf(journal, { ...report, running: false });
  return { ...left, findings: left.findings.filter(({ kind }) => kind !== "notRunning") };
}

/**
 * Runs the daemon until nothing is left that continues automatically, and lets it end. Rejects with the
 * daemon's own failure, with what keeps the pass from ever being over, or with `Interrupted`.
 */
export async function onePass(
  daemon: Daemon,
  wanted: IdleWait,
  stopping: AbortSignal,
): Promise<PassReport> {
  await daemon.lookAgain();
  const over = new AbortController();
  const signal = AbortSignal.any([stopping, over.signal]);
  const running = daemon.run(signal);
  const ended = running.then((): never => {
    throw new Interrupted("stopped before everything was done; the next run continues");
  });
  const quiet = daemon.idle(wanted, signal);
  quiet.catch(() => {});
  ended.catch(() => {});
  try {
    // Stopping ends both; that it was stopped is what counts then.
    return await Promise.race([
      quiet.catch((error) => (stopping.aborted ? ended : Promise.reject(error))),
      ended,
      replaced(daemon),
    ]);
  } finally {
    over.abort(new Error("the pass is over"));
    await running;
  }
}

/** A daemon that is lost ends on its own. */
async function replaced({ startOver }: Daemon): Promise<never> {
  if ((await startOver) === "lost") return new Promise(() => {});
  throw new Interrupted("an archive was replaced during the run; run the command again");
}
