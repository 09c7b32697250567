import type { Command } from "commander";
import { examples } from "../examples.ts";
import { EXIT } from "../exit.ts";
import { onePass } from "../one-pass.ts";
import { Progress } from "../progress.ts";
import type { Shell } from "../shell.ts";
import { unreadLines, waitingLine } from "../status-lines.ts";
import type { StatusReport } from "../../sync/status.ts";
import { growSlowly } from "../../std/heap.ts";
import { assertOpenFiles } from "../../std/open-files.ts";
import { type Trouble, troubleLines, troublesOf } from "../troubles.ts";
import { secretsOf } from "./run.ts";

type Options = { readonly wait: boolean; readonly json?: boolean };

/** `scanferry sync`: one pass, in the foreground. */
export function addSync(program: Command, shell: Shell): void {
  program
    .command("sync")
    .description("carry everything over once: scan, send, wait until CONVERTED, leave")
    .option("--no-wait", "leave once everything is uploaded")
    .option("--json", "print one JSON object at the end, and nothing else")
    .action((options: Options) => sync(shell, options))
    .addHelpText("after", examples("scanferry sync", "scanferry sync --no-wait"));
}

async function sync(shell: Shell, { wait, json = false }: Options): Promise<void> {
  // Loaded only here: it is most of the program, and the other commands start twice as fast.
  const { Daemon } = await import("../../daemon/daemon.ts");
  const { warningsTo } = await import("../warnings.ts");
  growSlowly();
  assertOpenFiles();
  const { clock, random } = shell.surroundings;
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
    progress.begin((await daemon.status()).documents);
    const report = await onePass(daemon, { waitConverted: wait }, stopping);
    progress.end();
    const states = wait ? (["held", "failed", "settling", "uploaded"] as const) : undefined;
    const troubles = await troublesOf(daemon.journal, config, states);
    const lines = json
      ? [jsonOf(report, progress, troubles)]
      : textOf(report, progress, troubles, clock.now());
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

function textOf(
  { documents, paused, sending, mirrors }: StatusReport,
  { sent, converted }: Done,
  troubles: readonly Trouble[],
  now: number,
): string[] {
  const { held, failed, settling, uploaded, pending } = documents;
  const left = uploaded === 0 ? "" : `, ${uploaded} not CONVERTED yet`;
  const unfinished = settling === 0 ? "" : `, unfinished ${settling}`;
  const { waits } = sending;
  return [
    ...(waits && pending > 0 ? [waitingLine(waits, now)] : []),
    ...(paused ? ["paused: nothing was sent; see scanferry resume"] : []),
    ...unreadLines({ mirrors }).map(([what, mend]) => `${what}; ${mend.trim()}`),
    ...troubleLines(troubles),
    `sent ${sent}, converted ${converted}${left}, held ${held}, failed ${failed}${unfinished}`,
  ];
}

function jsonOf(
  { documents, paused, sending, gate, foldersToCreate, mirrors }: StatusReport,
  { sent, converted }: Done,
  troubles: readonly Trouble[],
): string {
  const { waits } = sending;
  return JSON.stringify({
    sent,
    converted,
    documents,
    paused,
    gate,
    waits,
    troubles,
    foldersToCreate,
    unread: mirrors.flatMap(({ name, unread }) => (unread ? { mirror: name, ...unread } : [])),
  });
}
