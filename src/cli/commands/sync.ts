import type { Command } from "commander";
import { examples } from "../examples.ts";
import { EXIT } from "../exit.ts";
import { onePass } from "../one-pass.ts";
import { Progress } from "../progress.ts";
import type { Shell } from "../shell.ts";
import { waitingLine } from "../status-lines.ts";
import { troubleLines, troublesOf } from "../troubles.ts";
import { secretsOf } from "./run.ts";

/** `scanferry sync`: one pass, in the foreground. */
export function addSync(program: Command, shell: Shell): void {
  program
    .command("sync")
    .description("carry everything over once: scan, send, wait until CONVERTED, leave")
    .option("--no-wait", "leave once everything is uploaded")
    .action(({ wait }: { wait: boolean }) => sync(shell, wait))
    .addHelpText("after", examples("scanferry sync", "scanferry sync --no-wait"));
}

async function sync(shell: Shell, waitConverted: boolean): Promise<void> {
  // Loaded only here: it is most of the program, and the other commands start twice as fast.
  const { Daemon } = await import("../../daemon/daemon.ts");
  const { warningsTo } = await import("../warnings.ts");
  const { clock, random } = shell.surroundings;
  const stopping = shell.stopping();
  const config = await shell.config();
  const progress = new Progress(shell.out, clock);
  await using daemon = await Daemon.open({
    config,
    log: warningsTo(shell.err, secretsOf(config), () => progress.giveWay()),
    clock,
    random,
    web: false,
    journaled: (applied) => progress.journaled(applied),
  });
  progress.begin((await daemon.status()).documents);
  try {
    const { documents, paused, sending } = await onePass(daemon, { waitConverted }, stopping);
    progress.end();
    if (sending.waits && documents.pending > 0) {
      await shell.out.line(waitingLine(sending.waits, clock.now()));
    }
    if (paused) await shell.out.line("paused: nothing was sent; see scanferry resume");
    for (const line of troubleLines(await troublesOf(daemon.journal))) await shell.out.line(line);
    const { held, failed, uploaded, pending } = documents;
    const left = uploaded === 0 ? "" : `, ${uploaded} not CONVERTED yet`;
    const { sent, converted } = progress;
    await shell.out.line(
      `sent ${sent}, converted ${converted}${left}, held ${held}, failed ${failed}`,
    );
    shell.exitCode = held + failed + pending > 0 ? EXIT.unsettled : EXIT.done;
  } finally {
    progress.end();
  }
}
