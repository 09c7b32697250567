import { Command } from "commander";
import { version } from "../daemon/version.ts";
import { addAdopt } from "./commands/adopt.ts";
import { addArchiveAdmin } from "./commands/archive-admin.ts";
import { addArchive } from "./commands/archive.ts";
import { addBackup } from "./commands/backup.ts";
import { addCheck } from "./commands/check.ts";
import { addCompletion } from "./commands/completion.ts";
import { addDemo } from "./commands/demo.ts";
import { addExplain } from "./commands/explain.ts";
import { addInit } from "./commands/init.ts";
import { addList } from "./commands/list.ts";
import { addNotify } from "./commands/notify.ts";
import { addPause } from "./commands/pause.ts";
import { addPlan } from "./commands/plan.ts";
import { addReceipt } from "./commands/receipt.ts";
import { addRetry } from "./commands/retry.ts";
import { addRules } from "./commands/rules.ts";
import { addRun } from "./commands/run.ts";
import { addServeArchive } from "./commands/serve-archive.ts";
import { addStatus } from "./commands/status.ts";
import { addSync } from "./commands/sync.ts";
import { addSystemd } from "./commands/systemd.ts";
import { addVerify } from "./commands/verify.ts";
import { examples } from "./examples.ts";
import type { Shell } from "./shell.ts";

/** Each adds its command, in the order in which help shows them. */
const COMMANDS = [
  addInit,
  addCheck,
  addPlan,
  addRules,
  addRun,
  addSync,
  addStatus,
  addList,
  addExplain,
  addRetry,
  addPause,
  addReceipt,
  addVerify,
  addAdopt,
  addBackup,
  addArchive,
  addNotify,
  addSystemd,
  addCompletion,
  addServeArchive,
  addArchiveAdmin,
  addDemo,
];

/** The whole command line. Parsing throws `CommanderError` and `UsageError`, and ends no process. */
export function programOf(shell: Shell): Command {
  const program = new Command("scanferry")
    .description(
      "Carries scans from local folders into an online document archive: once, whole, in the\n" +
        "right folder, and with proof.",
    )
    .option(
      "--config <file>",
      "the configuration; else $SCANFERRY_CONFIG, ./scanferry.yaml, /etc/scanferry/scanferry.yaml",
    )
    .version(version, "-V, --version")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.out.print(text),
      // What is wrong is told in one line, by whoever catches it.
      writeErr: () => {},
      outputError: () => {},
      getOutHelpWidth: () => shell.out.width,
      getOutHasColors: () => shell.out.hasColour,
    })
    .hook("preAction", () => {
      const { config } = program.opts<{ config?: string }>();
      shell.configFile = config;
    })
    .addHelpText("after", examples("scanferry init", "scanferry check", "scanferry run"));
  for (const add of COMMANDS) add(program, shell);
  return program;
}
