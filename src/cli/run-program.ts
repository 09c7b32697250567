import { CommanderError } from "commander";
import { readConfigFile } from "../config/config-file.ts";
import { Fault } from "../std/fault.ts";
import { commandsFor } from "./command-table.ts";
import { codeOfStop, endingOf, type ExitCode } from "./exit.ts";
import { noCommand, programOf } from "./program.ts";
import { type ProcessContext, Shell } from "./shell.ts";
import { leave } from "./leave.ts";
import { contextOfProcess, rawArguments } from "./process-context.ts";
import { redactor } from "../std/redactor.ts";
import type { Log } from "../std/log.ts";
import { printable } from "../std/printable.ts";
import type { Terminal } from "./terminal.ts";
import { isUnusable } from "../check/check-result.ts";
import { wrapped } from "./text-table.ts";

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
    const { isInteractive, width } = shell.err;
    // Elsewhere each is one line, for programs.
    for (const line of lines)
      shell.err.print(`${isInteractive ? wrapped(line, width - 2).join("\n  ") : line}\n`);
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

/** Runs the command that the process was started with, and ends the process. */
export async function start(): Promise<void> {
  const processContext = contextOfProcess();
  const code = await runProgram(rawArguments(process.argv.slice(2)), processContext);
  await leave(code, processContext.ending);
}

/**
 * A log for commands in the foreground: warnings and errors alone, a line each. What becomes of a
 * document is not repeated here, since the command tells that itself. `before` is called before each
 * line: what is drawn over on a terminal gives way.
 */
export function warningsTo(
  terminal: Terminal,
  secrets: readonly string[],
  before: () => void = () => {},
): Log {
  const redact = redactor(secrets);
  const say = (context: object, message: string) => {
    if ("state" in context) return;
    const facts = Object.entries(context)
      .filter(([name]) => ["mirror", "path", "code"].includes(name))
      .map(([, value]) => String(value));
    const about = facts.length === 0 ? "" : ` (${facts.join(", ")})`;
    before();
    terminal.print(`${printable(redact(`scanferry: ${message}${about}`))}\n`);
  };
  return { trace() {}, debug() {}, info() {}, warn: say, error: say };
}
