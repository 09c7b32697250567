import { Command } from "commander";
import { version } from "../daemon/version.ts";
import { type AddCommand, HELP_GROUP } from "./command-table.ts";
import { examples } from "./examples.ts";
import type { Shell } from "./shell.ts";

/** The command line with these commands. Parsing throws `CommanderError` and `UsageError`, and ends no process. */
export function programOf(shell: Shell, commands: readonly AddCommand[]): Command {
  const program = new Command("scanferry")
    .description(
      "Sends scans from local folders to an online document archive: once, complete, to the " +
        "right folder, and with proof.",
    )
    .option(
      "--config <file>",
      "configuration file; default: $SCANFERRY_CONFIG, ./scanferry.yaml, /etc/scanferry/scanferry.yaml",
    )
    .version(version, "-V, --version")
    .addHelpCommand(helpCommand())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.out.print(text),
      // What is wrong is printed in one line, where it is caught.
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
  for (const add of commands) add(program, shell);
  return program;
}

function helpCommand(): Command {
  return new Command("help")
    .argument("[command]")
    .description("show the help of a command")
    .helpOption(false)
    .helpGroup(HELP_GROUP);
}
