import { Writable } from "node:stream";
import { runProgram } from "../../../src/cli/run-program.ts";
import type { OutputStream } from "../../../src/cli/terminal.ts";
import { systemClock, systemRandom } from "../../../src/std/clock.ts";

/** A stream that keeps what is written; `tty` makes it look like a terminal. */
export class Sink extends Writable {
  readonly isTTY: boolean;
  readonly columns = 80;
  text = "";

  constructor(tty = false) {
    super();
    this.isTTY = tty;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs a command line in this process. */
export async function scanferry(
  args: readonly string[],
  given: {
    cwd?: string;
    env?: NodeJS.ProcessEnv;
    stdout?: OutputStream & { text?: string };
    stderr?: Sink;
    stopping?: AbortSignal;
  } = {},
): Promise<Ran> {
  const stdout = given.stdout ?? new Sink();
  const stderr = given.stderr ?? new Sink();
  const code = await runProgram(args, {
    env: given.env ?? {},
    cwd: given.cwd ?? "/",
    stdout,
    stderr,
    clock: systemClock,
    random: systemRandom,
    stopping: () => given.stopping ?? new AbortController().signal,
  });
  return { code, stdout: stdout.text ?? "", stderr: stderr.text };
}

/** The lines of a text, without the last, empty one. */
export function linesOf(text: string): string[] {
  return text.split("\n").filter((line, index, all) => line !== "" || index < all.length - 1);
}
