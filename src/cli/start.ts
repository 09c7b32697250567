import { leave } from "./leave.ts";
import { processSurroundings } from "./process-surroundings.ts";
import { rawArguments } from "./raw-arguments.ts";
import { runProgram } from "./run-program.ts";

/** Runs the command that the process was started with, and ends the process. */
export async function start(): Promise<void> {
  const surroundings = processSurroundings();
  const code = await runProgram(rawArguments(process.argv.slice(2)), surroundings);
  await leave(code, surroundings.ending);
}
