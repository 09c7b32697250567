import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const CHILD = fileURLToPath(new URL("./child.ts", import.meta.url));

/** A running `child.ts`: its lines one by one, and its end. */
export class Child implements AsyncDisposable {
  readonly process: ChildProcess;
  readonly lines: AsyncIterator<string>;
  readonly ended: Promise<unknown>;

  constructor(task: "own" | "write", path: string, shell?: string) {
    const command = [process.execPath, CHILD, task, path] as const;
    const stdio = ["pipe", "pipe", "inherit"] as const;
    const [file, ...rest] = command;
    this.process = shell
      ? spawn("/bin/sh", ["-c", `${shell}; exec "$@"`, "sh", ...command], { stdio: [...stdio] })
      : spawn(file, rest, { stdio: [...stdio] });
    this.ended = once(this.process, "close");
    const { stdout } = this.process;
    if (!stdout) throw new Error("the child has no output");
    this.lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  }

  /** The next line; undefined at the end. */
  async line(): Promise<string | undefined> {
    const { value, done } = await this.lines.next();
    return done ? undefined : value;
  }

  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) await this.kill();
  }
}
