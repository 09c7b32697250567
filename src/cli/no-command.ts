import type { Command } from "commander";
import { nearest } from "../config/nearest.ts";
import { UsageError } from "./exit.ts";

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
