import { Command } from "commander";
import { version } from "../daemon/version.ts";
import { type AddCommand, HELP_GROUP } from "./command-table.ts";
import type { Shell } from "./shell.ts";
import { examples } from "./option-values.ts";
import { nearest } from "../std/nearest.ts";
import { UsageError } from "../std/fault.ts";

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
    .hook("preAction", async (_, command) => {
      const { config } = program.opts<{ config?: string }>();
      shell.configFile = config;
      const paths = pathsOf(command);
      if (paths.length === 0) return;
      // What reads configurations takes longer to load than most commands to run.
      const { isShareAddress, SHARE_FIX } = await import("../config/place-kinds.ts");
      for (const path of paths) {
        if (!isShareAddress(path)) continue;
        throw new UsageError(`${path} is a Windows path or the address of a share; ${SHARE_FIX}`);
      }
    })
    .addHelpText("after", examples("scanferry init", "scanferry check", "scanferry run"));
  for (const add of commands) add(program, shell);
  return program;
}

/** What was typed where the command, or the program, takes a file or folder of this machine. */
function pathsOf(command: Command): string[] {
  const isPath = (name: string) => /^(?:file|dir|path)$/.test(name);
  const typed: unknown[] = command.registeredArguments.flatMap((argument, at) =>
    isPath(argument.name()) ? [command.processedArgs[at]] : [],
  );
  const values: Readonly<Record<string, unknown>> = command.optsWithGlobals();
  for (let each: Command | null = command; each; each = each.parent) {
    for (const option of each.options) {
      const [, name = ""] = /<([\w-]+)>/.exec(option.flags) ?? [];
      if (isPath(name)) typed.push(values[option.attributeName()]);
    }
  }
  return typed.flat().filter((value) => typeof value === "string");
}

function helpCommand(): Command {
  return new Command("help")
    .argument("[command]")
    .description("show the help of a command")
    .helpOption(false)
    .helpGroup(HELP_GROUP);
}

/**
 * What is missing where commander can only answer with help: on stderr that would be many lines,
 * none of which says what is wrong.
 */
export function noCommand(program: Command): UsageError {
  const [word, about] = program.args;
  if (word === "help" && about !== undefined) return unknownCommand(about, namesOf(program));
  const group = program.commands.find((command) => command.name() === word);
  if (!group) return new UsageError("no command given; see scanferry --help");
  return new UsageError(`${group.name()} needs a command: one of ${namesOf(group).join(", ")}`);
}

function unknownCommand(word: string, names: readonly string[]): UsageError {
  const meant = nearest(word, names);
  const fix = meant === undefined ? "see scanferry --help" : `did you mean ${meant}?`;
  return new UsageError(`unknown command '${word}'; ${fix}`);
}

function namesOf(group: Command): string[] {
  return group.commands.map((command) => command.name());
}
