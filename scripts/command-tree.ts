/** The command line as data: what help shows of it, for what is generated from it. */
import { Writable } from "node:stream";
import type { Command } from "commander";
import { allCommands } from "../src/cli/command-table.ts";
import { programOf } from "../src/cli/run-program.ts";
import { Shell } from "../src/cli/shell.ts";
import { systemClock, systemRandom } from "../src/std/clock.ts";

const COMMANDS = await allCommands();

export type Term = { readonly term: string; readonly description: string };

/** One command, with those below it. */
export type CommandLeaf = {
  /** With those above it, without the program's own name; empty for the program. */
  readonly words: readonly string[];
  /** The heading under which help shows it; empty for what is not grouped. */
  readonly group: string;
  readonly usage: string;
  readonly description: string;
  readonly arguments: readonly Term[];
  readonly options: readonly Term[];
  /** `--flag` and `-f` of every option. */
  readonly flags: readonly string[];
  /** What help adds at its end: examples, remarks. */
  readonly after: string;
  readonly commands: readonly CommandLeaf[];
};

/** The whole program, as data. */
export function commandTree(): CommandLeaf {
  return leafOf(theProgram(), []);
}

/** The program as it is built, with nobody to talk to. */
export function theProgram(): Command {
  const drain = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  const shell = new Shell({
    env: {},
    cwd: "/",
    stdout: drain(),
    stderr: drain(),
    clock: systemClock,
    random: systemRandom,
    stopping: () => new AbortController().signal,
  });
  return programOf(shell, COMMANDS);
}

function leafOf(command: Command, words: readonly string[]): CommandLeaf {
  const help = command.createHelp();
  const shownOptions = help.visibleOptions(command);
  return {
    words,
    group: command.helpGroup(),
    usage: command.usage(),
    description: command.description(),
    arguments: help.visibleArguments(command).map((argument) => ({
      term: help.argumentTerm(argument),
      description: help.argumentDescription(argument),
    })),
    options: shownOptions.map((option) => ({
      term: help.optionTerm(option),
      description: help.optionDescription(option),
    })),
    flags: shownOptions.flatMap(({ long, short }) =>
      [long, short].filter((name): name is string => typeof name === "string"),
    ),
    after: afterOf(command),
    commands: help
      .visibleCommands(command)
      .filter((below) => below.name() !== "help")
      .map((below) => leafOf(below, [...words, below.name()])),
  };
}

function afterOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (more) => (text += more) });
  command.outputHelp();
  return text.slice(command.helpInformation().length).trim();
}
