/** What the scripts for bash and for zsh have in common: both step through the words with `case`. */
import type { Flag, CommandNode } from "./grammar.ts";

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
