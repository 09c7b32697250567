import { commandsFor } from "./command-table.ts";
import { endingOf, type ExitCode, UsageError } from "./exit.ts";
import { programOf } from "./program.ts";
import { Shell, type Surroundings } from "./shell.ts";

/** Runs the command line `args` (without node and script); resolves with the exit code. */
export async function runProgram(
  args: readonly string[],
  surroundings: Surroundings,
): Promise<ExitCode> {
  const shell = new Shell(surroundings);
  try {
    if (args.length === 0) throw new UsageError("no command given; see scanferry --help");
    const program = programOf(shell, await commandsFor(args));
    await program.parseAsync(args, { from: "user" });
    return shell.exitCode;
  } catch (error) {
    const { code, lines } = endingOf(error);
    for (const line of lines) await shell.err.line(line);
    return code;
  }
}
