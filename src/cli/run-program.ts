import { CommanderError } from "commander";
import { readConfigFile } from "../config/config-file.ts";
import { Fault } from "../std/fault.ts";
import { commandsFor } from "./command-table.ts";
import { codeOfStop, endingOf, type ExitCode, isUnusable } from "./exit.ts";
import { noCommand } from "./no-command.ts";
import { programOf } from "./program.ts";
import { Shell, type ProcessContext } from "./shell.ts";

/** Runs the command line `args` (without node and script); resolves with the exit code. Without any, help. */
export async function runProgram(
  args: readonly string[],
  processContext: ProcessContext,
): Promise<ExitCode> {
  const shell = new Shell(processContext);
  try {
    const program = programOf(shell, await commandsFor(args));
    await program
      .parseAsync(args.length === 0 ? ["--help"] : args, { from: "user" })
      .catch((error: unknown) => {
        const isHelp = error instanceof CommanderError && error.code === "commander.help";
        throw isHelp && error.exitCode !== 0 ? noCommand(program) : error;
      });
    return shell.stopped === undefined ? shell.exitCode : codeOfStop(shell.stopped);
  } catch (error) {
    const { code, lines } = endingOf(await placed(error, shell), shell.stopped);
    // The end of the process waits for them as long as it may.
    for (const line of lines)
      shell.err.print(`${line}
`);
    return code;
  }
}

/** What is wrong with the configuration names its file, also where it was found long after that was read. */
async function placed(failure: unknown, shell: Shell): Promise<unknown> {
  if (!isUnusable(failure)) return failure;
  const file = await readConfigFile(shell.places).catch(() => undefined);
  if (file?.isWritten !== true) return failure;
  const { code, message, hint } = failure;
  return new Fault(code, `${file.path}: ${message}`, hint, { cause: failure });
}
