import { spawn } from "node:child_process";
import { once } from "node:events";
import type { CommandConfig } from "../config/channels/command.ts";
import { codeOf } from "../std/fault.ts";
import type { Channel } from "./channel.ts";
import type { MessageBody } from "./message.ts";

/** Environment that the program is given: nothing that could hold a secret. */
const ENVIRONMENT = ["PATH", "HOME", "USER", "TZ", "LANG", "LC_ALL", "TMPDIR"];

/** Runs a program with the message as JSON on its input. No shell; what it prints is not read. */
export class CommandChannel implements Channel {
  readonly name: string;
  readonly #run: readonly string[];
  readonly #cwd: string;

  constructor({ name, run, cwd }: CommandConfig) {
    this.name = name;
    this.#run = run;
    this.#cwd = cwd;
  }

  async send(body: MessageBody, signal: AbortSignal): Promise<undefined> {
    signal.throwIfAborted();
    const [program = "", ...rest] = this.#run;
    const child = spawn(program, rest, {
      cwd: this.#cwd,
      env: environment(),
      stdio: ["pipe", "ignore", "ignore"],
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
    // A program need not read its input.
    child.stdin.on("error", () => {});
    child.stdin.end(`${JSON.stringify(body)}\n`);
    try {
      const [code, by] = (await once(child, "exit").catch(whyNot(program))) as Exit;
      signal.throwIfAborted();
      if (code !== 0) throw new Error(`${program} ended with ${by ?? `exit code ${code}`}`);
    } finally {
      signal.removeEventListener("abort", kill);
    }
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
