import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Clock } from "../std/clock.ts";
import { messageOf } from "../std/fault.ts";
import { lastWordsOf } from "../std/printable.ts";
import { environmentOf, HARMLESS } from "./fork-reader.ts";
import type { HookCalls, HookEnd, HookOrder } from "./protocol.ts";

/**
 * Runs a hook: a command of the operator's, without a shell, in an environment without secrets, in
 * a process group of its own. Nothing of it outlives its answer: when it has ended, or took too
 * long, or said too much, its whole group is killed. A process that hangs in the kernel is left to
 * die there; nobody waits for it.
 */

/** Not a source: a share that hangs must not keep a process from starting. */
const DIRECTORY = "/";

/** How long a child of its that holds its output open is waited for after its own end. */
const OUTPUT_MS = 500;

/** Called with a process group; the function that is returned is called at its end. */
export type Begun = (group: number) => () => void;

/** Never rejects: every way a hook can end is an answer. */
export async function runHook(order: HookOrder, begun: Begun, clock: Clock): Promise<HookEnd> {
  const [program = "", ...words] = order.command;
  let child: ChildProcessWithoutNullStreams;
  try {
    child = spawn(program, words, {
      cwd: DIRECTORY,
      env: environmentOf(HARMLESS),
      detached: true,
      stdio: "pipe",
    });
  } catch (error) {
    return { failure: `cannot be started: ${messageOf(error)}` };
  }
  const { pid } = child;
  if (pid !== undefined) beginGroup(pid);
  const over = pid === undefined ? undefined : begun(pid);
  try {
    return await ended(child, order, clock);
  } finally {
    if (pid !== undefined) endGroup(pid);
    over?.();
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    child.unref();
  }
}

function ended(
  child: ChildProcessWithoutNullStreams,
  { input, timeoutMs, outputBytesMax }: HookOrder,
  clock: Clock,
): Promise<HookEnd> {
  const { promise, resolve } = Promise.withResolvers<HookEnd>();
  const output: Buffer[] = [];
  const lastWords = lastWordsOf(child.stderr);
  let bytes = 0;
  const fail = (what: string) => {
    const why = lastWords();
    resolve({ failure: why === "" ? what : `${what}: ${why}` });
  };
  const alarms = [clock.alarm(timeoutMs, () => fail(`did not end within ${timeoutMs} ms`))];
  child.stdout.on("data", (chunk: Buffer) => {
    if (outputBytesMax === null) return;
    bytes += chunk.length;
    if (bytes > outputBytesMax) fail(`wrote more than ${outputBytesMax} bytes`);
    else output.push(chunk);
  });
  const conclude = (code: number | null, signal: NodeJS.Signals | null) => {
    if (code === 0) resolve({ output: Buffer.concat(output) });
    else fail(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`);
  };
  child.once("exit", (code, signal) => {
    // A process that stood still meanwhile has a late alarm, and what was written long ago to read first.
    const late = () => void setImmediate(conclude, code, signal);
    alarms.push(clock.alarm(OUTPUT_MS, late));
  });
  child.once("close", conclude);
  child.once("error", (error) => fail(`cannot be started: ${error.message}`));
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => {});
  child.stdin.end(input);
  return promise.finally(() => {
    for (const cancel of alarms) cancel();
  });
}

/**
 * Process groups of running hooks. Each hook leads a group of its own, so that whatever it starts
 * ends with it.
 */
const running = new Set<number>();

/** A group that this process has started. */
function beginGroup(group: number): void {
  running.add(group);
}

/** Kills every process of a group; one that is gone already is no error. */
function endGroup(group: number): void {
  running.delete(group);
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // Nobody is left in it.
  }
}

/** Kills all that this process has started and that still runs. */
export function endAllGroups(): void {
  for (const group of running) endGroup(group);
}

/** What the handle on a reader knows of its hooks, to end those that outlive it. */
export class HookGroups {
  readonly #running = new Set<number>();
  #isOver = false;

  readonly calls: HookCalls = {
    hookBegun: async (group) => {
      // A last word of a reader that is gone.
      if (this.#isOver) endGroup(group);
      else this.#running.add(group);
    },
    hookEnded: async (group) => {
      this.#running.delete(group);
    },
  };

  /** The reader is gone. */
  end(): void {
    this.#isOver = true;
    for (const group of this.#running) endGroup(group);
    this.#running.clear();
  }
}
