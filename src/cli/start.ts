import { leave } from "./leave.ts";
import { contextOfProcess } from "./process-context.ts";
import { rawArguments } from "./raw-arguments.ts";
import { runProgram } from "./run-program.ts";

/** Runs the command that the process was started with, and ends the process. */
export async function start(): Promise<void> {
  const processContext = contextOfProcess();
  const code = await runProgram(rawArguments(process.argv.slice(2)), processContext);
  await leave(code, processContext.ending);
}
