import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { until } from "../../test/fixtures/until.ts";

/** A network share of this machine's own: a folder behind a FUSE process that can hang and die. */
export class Share implements AsyncDisposable {
  /** What the server holds; always there, whatever becomes of the mount. */
  readonly behind: string;
  /** Where it is mounted. */
  readonly point: string;
  #process: ChildProcess | undefined;

  private constructor(behind: string, point: string) {
    this.behind = behind;
    this.point = point;
  }

  /** Makes both folders and mounts one on the other; rejects where that is not allowed. */
  static async open(behind: string, point: string): Promise<Share> {
    mkdirSync(behind, { recursive: true });
    mkdirSync(point, { recursive: true });
    const share = new Share(behind, point);
    await share.mount();
    return share;
  }

  /** Mounts `folder`, by default what is always behind this share. */
  async mount(folder = this.behind): Promise<void> {
    const child = spawn("bindfs", ["-f", folder, this.point], { stdio: "ignore" });
    this.#process = child;
    const failed = once(child, "close").then(() => {
      if (!this.isMounted()) throw new Error(`bindfs cannot be mounted on ${this.point}`);
    });
    failed.catch(() => {});
    await Promise.race([failed, until("the mount", () => this.isMounted())]);
  }

  isMounted(): boolean {
    return readFileSync("/proc/self/mountinfo", "utf8").includes(` ${this.point} `);
  }

  /** From now on anyone who touches it waits. */
  hang(): void {
    this.#process?.kill("SIGSTOP");
  }

  goOn(): void {
    this.#process?.kill("SIGCONT");
  }

  /** The server is gone and the mount is not: ENOTCONN. */
  async die(): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "close");
  }

  /** Only the bare mount point is left. */
  unmount(): void {
    if (this.isMounted()) execFileSync("umount", ["-l", this.point]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.die();
    this.unmount();
  }
}
