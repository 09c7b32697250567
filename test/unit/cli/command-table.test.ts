import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { theProgram } from "../../../scripts/command-tree.ts";
import { commandsFor } from "../../../src/cli/command-table.ts";
import type { Shell } from "../../../src/cli/shell.ts";

/** The names of the commands that are loaded for a command line. */
async function loaded(...args: string[]): Promise<string[]> {
  const program = new Command();
  // Only actions look at it.
  const shell = {} as Shell;
  for (const add of await commandsFor(args)) add(program, shell);
  return program.commands.map((command) => command.name());
}

const all = theProgram().commands.map((command) => command.name());

describe("of the commands is loaded", () => {
  test.for(all.filter((name) => name !== "completion"))("%s, when it is typed", async (name) => {
    const names = await loaded(name);
    expect(names).toContain(name);
    expect(names.length).toBeLessThanOrEqual(2);
  });

  test.for([
    [["--config", "list", "status"], ["status"], "a file may be called as a command is"],
    [["--config=list", "status", "--json"], ["status"], "the same in one word"],
    [["list", "status"], ["list"], "only the first word is a command"],
    [["--version"], [], "the program answers itself"],
    [["-V"], [], "the same"],
  ] as const)("for %j: %j, because %s", async ([args, names]) => {
    expect(await loaded(...args)).toEqual(names);
  });

  test.for([
    [[], "nothing is asked for"],
    [["--help"], "help names them all"],
    [["help", "status"], "help looks for it among them"],
    [["stauts"], "the nearest name is looked for"],
    [["completion", "bash"], "it completes them all"],
    [["--config", "status"], "no command is named"],
    [["toString"], "every object has one"],
  ] as const)("for %j: all of them, because %s", async ([args]) => {
    expect(await loaded(...args)).toEqual(all);
  });
});
