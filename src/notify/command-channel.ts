import { spawn } from "node:child_process";
import { once } from "node:events";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { CommandConfig } from "../config/channels/command.ts";
import type { Clock } from "../std/clock.ts";
import { codeOf } from "../std/fault.ts";
import { lastWordsOf } from "../std/printable.ts";
import type { Channel } from "./channel.ts";
import type { MessageBody } from "./message.ts";

/** Environment that the program is given: nothing that could hold a secret. */
const ENVIRONMENT = ["PATH", "HOME", "USER", "TZ", "LANG", "LC_ALL", "TMPDIR"];

/** How long what an ended program said is read, where a child of its holds its output open. */
const OUTPUT_MS = 500;

/** Runs a program with the message as JSON on its input. No shell; of what it prints, its last error is shown when it fails. */
export class CommandChannel implements Channel {
  readonly name: string;
  readonly #run: readonly string[];
  readonly #cwd: string;
  readonly #clock: Clock;

  constructor({ name, run, cwd }: CommandConfig, clock: Clock) {
    this.name = name;
    this.#run = run;
    this.#cwd = cwd;
    this.#clock = clock;
  }

  async send(body: MessageBody, signal: AbortSignal): Promise<undefined> {
    signal.throwIfAborted();
    const [program = "", ...rest] = this.#run;
    const child = spawn(program, rest, {
      cwd: this.#cwd,
      env: environment(),
      stdio: ["pipe", "ignore", "pipe"],
      // A group of its own, so that what the program starts ends with it.
      detached: true,
    });
    const kill = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended on its own.
      }
    };
    signal.addEventListener("abort", kill, { once: true });
    // Read until its last holder ends: one that runs on must be able to write to it.
    const lastWords = lastWordsOf(child.stderr);
    if (child.stderr instanceof Socket) child.stderr.unref();
    // A program need not read its input.
    child.stdin.on("error", () => {});
    child.stdin.end(`${JSON.stringify(body)}\n`);
    try {
      const [code, by] = (await once(child, "exit").catch(whyNot(program))) as Exit;
      signal.throwIfAborted();
      if (code === 0) return;
      await this.#end(child.stderr);
      const ended = `${program} ended with ${by ?? `exit code ${code}`}`;
      const why = lastWords();
      throw new Error(why === "" ? ended : `${ended}: ${why}`);
    } finally {
      signal.removeEventListener("abort", kill);
    }
  }

  /** Until all is read that an ended program said, which a child of its may hold open. */
  async #end(stderr: Readable): Promise<void> {
    if (stderr.closed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#clock.alarm(OUTPUT_MS, resolve);
    stderr.once("close", resolve);
    await promise.finally(cancel);
  }
}

type Exit = [code: number | null, by: string | null];

/** Why a program could not be started, in words; errors of other kinds as they are. */
function whyNot(program: string): (error: unknown) => never {
  return (error) => {
    const words = { ENOENT: "is not there", EACCES: "is not executable for this user" };
    const why = Object.entries(words).find(([code]) => code === codeOf(error))?.[1];
    throw why === undefined ? error : new Error(`${program} ${why}`, { cause: error });
  };
}

function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    ENVIRONMENT.flatMap((key) => (process.env[key] === undefined ? [] : [[key, process.env[key]]])),
  );
}
