/** What may be typed, from the commander program itself: nothing of it is written down twice. */
import type { Command, Option } from "commander";

/** What an option, or an argument, takes. */
export type Takes =
  | { readonly kind: "nothing" | "anything" | "file" | "directory" }
  | { readonly kind: "words"; readonly words: readonly string[] };

/** An option, by all of its names. */
export type Flag = {
  /** `--state`, or `-V` and `--version`. */
  readonly names: readonly string[];
  readonly about: string;
  readonly takes: Takes;
};

/** One command, or the program itself. */
export type CommandNode = {
  /** The words that lead to it: `archive documents`; the program's is empty. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly about: string }[];
  readonly flags: readonly Flag[];
  /** What stands behind the flags. */
  readonly takes: Takes;
};

/** Every place of the program, the program itself first. */
export function grammarOf(program: Command): CommandNode[] {
  return placesOf(program, [], program.options.map(flagOf));
}

function placesOf(
  command: Command,
  way: readonly string[],
  global: readonly Flag[],
): CommandNode[] {
  const [argument] = command.registeredArguments;
  const own = way.length === 0 ? [] : command.options.map(flagOf);
  const help: Flag = { names: ["-h", "--help"], about: "show how to use it", takes: NOTHING };
  const here: CommandNode = {
    path: way.join(" "),
    commands: command.commands.map((each) => ({ name: each.name(), about: firstLine(each) })),
    flags: [...own, ...global, help],
    takes: argument ? takesOf(argument.name(), argument.argChoices) : NOTHING,
  };
  return [
    here,
    ...command.commands.flatMap((each) => placesOf(each, [...way, each.name()], global)),
  ];
}

const NOTHING: Takes = { kind: "nothing" };

function flagOf(option: Option): Flag {
  const [, placeholder] = /[<[]([\w-]+)/.exec(option.flags) ?? [];
  return {
    names: [option.short, option.long].filter((name) => name !== undefined),
    about: option.description.split(/[;\n]/)[0] ?? "",
    takes: placeholder === undefined ? NOTHING : takesOf(placeholder, option.argChoices),
  };
}

/** By its name in the help: `<file>`, `<dir>`, `[path...]`. */
function takesOf(name: string, choices: readonly string[] | undefined): Takes {
  if (choices !== undefined) return { kind: "words", words: choices };
  if (name === "dir") return { kind: "directory" };
  return { kind: name === "file" || name === "path" ? "file" : "anything" };
}

function firstLine(command: Command): string {
  return command.description().split("\n")[0] ?? "";
}

/** How a word that stands before the cursor leads on: to a command, or over a flag's value. */
export function stepLines({ path, commands, flags }: CommandNode): string[] {
  const valued = flags.filter(({ takes }) => takes.kind !== "nothing");
  return [
    ...commands.map(({ name }) => `      "${path}:${name}") at="${`${path} ${name}`.trim()}" ;;`),
    ...valued.map((flag) => `      ${pattern(path, flag)}) ((i++)) ;;`),
  ];
}

/** A flag of a place, by any of its names. */
export function pattern(path: string, { names }: Flag): string {
  return names.map((name) => `"${path}:${name}"`).join("|");
}
