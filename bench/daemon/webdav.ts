/** The same small job by `rclone copy` to its own WebDAV server. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Bench, type Case, check, inTurns, median, rounded } from "./bench.ts";
import { costOf, endWithThis } from "./cost.ts";
import { Home } from "./home.ts";
import { carry, sentTo } from "./job.ts";
import { treeOf } from "./tree.ts";

export const webdav: Case = {
  name: "webdav",
  async run(bench) {
    if (!bench.has("rclone")) return;
    const tree = { files: bench.quick ? 20 : 1_000, bytes: 20_000, directories: 100 };
    const root = treeOf(bench, tree);
    const home = new Home(bench, "webdav");
    const env = { RCLONE_CONFIG: join(bench.dir, "rclone.conf") };
    await using server = await WebdavServer.open(bench.place("webdav"), env);
    const [theirs = [], ours = []] = await inTurns(bench.rounds, [
      async (round) => {
        const to = `:webdav:round-${round}`;
        const cost = await costOf("rclone", ["copy", root, to, "--webdav-url", server.url], env);
        const { stdout } = await costOf(
          "rclone",
          ["lsf", "-R", "--files-only", server.at(round)],
          env,
        );
        const copied = stdout.trim().split("\n").length;
        check(copied === tree.files, `rclone copied ${copied} of ${tree.files} files`);
        return cost;
      },
      () => sentTo({}, tree, (url) => carry(home, url, root, 8)),
    ]);
    const [rclone, own] = [theirs, ours].map((costs) => median(costs.map((cost) => cost.seconds)));
    report(bench, tree.files, own ?? Number.NaN, rclone ?? Number.NaN);
  },
};

function report(bench: Bench, files: number, own: number, rclone: number): void {
  bench.find({
    what: `${files.toLocaleString("en")} × 20 KB, 8 at once`,
    ours: `${rounded(own)} s`,
    beside: `rclone copy to WebDAV ${rounded(rclone)} s`,
    value: rclone / own,
    bound: { atLeast: 25, unit: "×" },
  });
}

class WebdavServer implements AsyncDisposable {
  readonly url: string;
  readonly #dir: string;
  readonly #end: () => Promise<unknown>;

  private constructor(url: string, dir: string, end: () => Promise<unknown>) {
    this.url = url;
    this.#dir = dir;
    this.#end = end;
  }

  static async open(dir: string, env: NodeJS.ProcessEnv): Promise<WebdavServer> {
    const child = spawn("rclone", ["serve", "webdav", dir, "--addr", "127.0.0.1:0"], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const spare = endWithThis(child);
    const end = () => {
      spare();
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      return ended;
    };
    for await (const line of createInterface(child.stderr)) {
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
      if (url === undefined) continue;
      child.stderr.resume();
      return new WebdavServer(url, dir, end);
    }
    throw new Error("rclone serve webdav does not say where it listens");
  }

  /** Where the files of a round lie. */
  at(round: number): string {
    return join(this.#dir, `round-${round}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }
}
