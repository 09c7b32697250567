import { Stopping } from "../std/abort.ts";
import { systemClock, systemRandom } from "../std/clock.ts";
import { neverBlock } from "../std/never-block.ts";
import { codeOf, UsageError } from "../std/fault.ts";
import { codeOfStop } from "./exit.ts";
import { giveUp } from "./leave.ts";
import type { ProcessContext } from "./shell.ts";
import { readFileSync } from "node:fs";
import { exact, rawOf } from "../std/raw-path.ts";

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

/** What Node puts where a byte was no text. */
const LOST = "\ufffd";

/**
 * `args` with `\xHH` for bytes that are no text, as far as `commandLine` tells them: the bytes of
 * all arguments of the process, each ended by a NUL.
 */
export function rawArguments(
  args: readonly string[],
  commandLine: () => Buffer = ownCommandLine,
): string[] {
  if (!args.some((arg) => arg.includes(LOST))) return [...args];
  const given = splitAtNul(commandLine()).slice(-args.length);
  return args.map((arg, at) => {
    const bytes = given[at];
    return bytes?.toString() === arg ? exact(rawOf(bytes)) : arg;
  });
}

/** Empty where the system does not tell. */
function ownCommandLine(): Buffer {
  try {
    return readFileSync("/proc/self/cmdline");
  } catch {
    return Buffer.alloc(0);
  }
}

function splitAtNul(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let from = 0;
  for (let to = bytes.indexOf(0); to >= 0; to = bytes.indexOf(0, from)) {
    parts.push(bytes.subarray(from, to));
    from = to + 1;
  }
  return parts;
}
