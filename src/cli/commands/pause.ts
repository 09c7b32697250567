import type { Command } from "commander";
import type { Config } from "../../config/config.ts";
import {
  type OpenedJournal,
  openJournal,
  runningDaemon,
  writeJournal,
} from "../../journal/open-journal.ts";
import { codeOf } from "../../std/fault.ts";
import type { Shell } from "../shell.ts";
import { examples } from "../option-values.ts";

type Options = { readonly json?: boolean };

/** `scanferry pause` and `resume`: stop and restart sending, daemon running or not. */
export function addPause(program: Command, shell: Shell): void {
  program
    .command("pause")
    .description("stop sending until `resume`, also after a restart")
    .option("--json", "print one JSON object")
    .action(({ json }: Options) => setPaused(shell, true, json === true))
    .addHelpText("after", examples("scanferry pause"));
  program
    .command("resume")
    .description("send again")
    .option("--json", "print one JSON object")
    .action(({ json }: Options) => setPaused(shell, false, json === true))
    .addHelpText("after", examples("scanferry resume"));
}

async function setPaused(shell: Shell, paused: boolean, json: boolean): Promise<void> {
  const config = await shell.config();
  await using journal = await writable(config);
  const was = await journal.paused();
  if (was !== paused) await journal.setPaused(paused);
  const running = (await runningDaemon(config)) !== undefined;
  if (json) {
    await shell.out.line(JSON.stringify({ paused, changed: was !== paused, running }));
    return;
  }
  const what = paused ? "paused: nothing is sent until scanferry resume" : "sending continues";
  const already = was === paused ? " (as before)" : "";
  const when = running ? "" : "; the daemon is not running";
  await shell.out.line(`${what}${already}${when}`);
}

/** Paused before the first start, a daemon sends nothing at all: so the journal is made. */
async function writable(config: Config): Promise<OpenedJournal> {
  try {
    return await writeJournal(config);
  } catch (error) {
    if (codeOf(error) !== "JOURNAL_MISSING") throw error;
    await using made = await openJournal(config.journal, "owner");
    await made.close();
    return await writeJournal(config);
  }
}
