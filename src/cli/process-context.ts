import { Stopping } from "../std/abort.ts";
import { systemClock, systemRandom } from "../std/clock.ts";
import { neverBlock } from "../std/never-block.ts";
import { codeOf } from "../std/fault.ts";
import { codeOfStop, UsageError } from "./exit.ts";
import { giveUp } from "./leave.ts";
import type { ProcessContext } from "./shell.ts";

/** The process context of this process; `ending` aborts once its end need not wait for anyone who reads what it wrote. */
export function contextOfProcess(): ProcessContext & { readonly ending: AbortSignal } {
  const ending = new AbortController();
  let stopping: AbortSignal | undefined;
  return {
    env: process.env,
    get cwd() {
      return currentDirectory();
    },
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    clock: systemClock,
    random: systemRandom,
    stopping: () => (stopping ??= stopSignal(ending)),
    unattended() {
      for (const stream of [process.stdout, process.stderr]) neverBlock(stream);
      ending.abort();
    },
    ending: ending.signal,
  };
}

function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    const why = codeOf(error) ?? "unknown error";
    throw new UsageError(`the current directory is gone (${why}); change to one that exists`);
  }
}

/** Aborts at the first SIGINT or SIGTERM; the second ends the process. */
function stopSignal(ending: AbortController): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      const why = new Stopping(`${signal} received`, signal);
      if (stop.signal.aborted) void giveUp(codeOfStop(why));
      stop.abort(why);
      ending.abort();
    });
  }
  return stop.signal;
}
