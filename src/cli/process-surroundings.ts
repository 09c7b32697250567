import { Stopping } from "../std/abort.ts";
import { systemClock, systemRandom } from "../std/clock.ts";
import { EXIT } from "./exit.ts";
import type { Surroundings } from "./shell.ts";

/** The surroundings of this process. */
export function processSurroundings(): Surroundings {
  let stopping: AbortSignal | undefined;
  return {
    env: process.env,
    cwd: process.cwd(),
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    clock: systemClock,
    random: systemRandom,
    stopping: () => (stopping ??= stopSignal()),
  };
}

/** Aborts at the first SIGINT or SIGTERM; the second ends the process at once. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(EXIT.fault);
      stop.abort(new Stopping(`${signal} received`));
    });
  }
  return stop.signal;
}
