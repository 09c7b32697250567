/** Where a soak takes place: the daemon and the archive as processes of their own, built. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { StoredDocument } from "../../src/embedded-archive/embedded-archive.ts";
import { THRIFTY_HEAP, THRIFTY_MALLOC } from "../../src/std/heap.ts";
import { BUILT } from "../../test/fixtures/a-process.ts";
import { CANARY } from "../../test/fixtures/canary.ts";
import { freePort } from "../../test/fixtures/free-port.ts";
import { until } from "../../test/fixtures/until.ts";
import type { Kept } from "./collected.ts";

const COLLECTED = new URL("./collected.ts", import.meta.url).href;

/** What has not ended by then hangs. */
const END_MS_MAX = 120_000;

type Ports = { readonly archive: number; readonly admin: number; readonly web: number };

export class Town {
  readonly dir: string;
  readonly source: string;
  readonly journal: string;
  /** Processes that did not end in time, each in a line. */
  readonly hung: string[] = [];
  readonly #ports: Ports;
  #daemon: ChildProcess | undefined;
  #archive: ChildProcess | undefined;

  private constructor(dir: string, ports: Ports) {
    this.dir = dir;
    this.source = join(dir, "scans");
    this.journal = join(dir, "state", "journal.db");
    this.#ports = ports;
  }

  /** Builds it in an empty directory and starts both processes. */
  static async open(dir: string): Promise<Town> {
    const [archive, admin, web] = await Promise.all([freePort(), freePort(), freePort()]);
    const town = new Town(dir, { archive, admin, web });
    for (const name of ["scans", "secrets", "logs"]) mkdirSync(join(dir, name), { mode: 0o700 });
    town.#configure();
    await town.startArchive();
    await town.#startDaemon();
    return town;
  }

  get web(): string {
    return `http://127.0.0.1:${this.#ports.web}`;
  }

  get daemonPid(): number {
    return pidOf(this.#daemon);
  }

  get archivePid(): number {
    return pidOf(this.#archive);
  }

  /** False once it has ended, however. */
  get daemonRuns(): boolean {
    return isUp(this.#daemon);
  }

  /** The readers that live now. */
  readers(): number[] {
    return childrenOf(this.daemonPid);
  }

  async startArchive(): Promise<void> {
    await until("the archive", () => {
      // Another process may have had its port for a moment.
      if (!isUp(this.#archive)) this.#archive = this.#serve();
      return this.stored(1).then(Boolean, () => false);
    });
  }

  #serve(): ChildProcess {
    const { archive, admin } = this.#ports;
    return this.#start("archive", [
      "serve-archive",
      `--data=${join(this.dir, "archive")}`,
      `--listen=127.0.0.1:${archive}`,
      `--admin=127.0.0.1:${admin}`,
      `--account=${CANARY.accountKey}:${CANARY.signingSecret}`,
      "--folder=/Scans",
      "--convert-delay=1s",
    ]);
  }

  async endArchive(signal: NodeJS.Signals): Promise<void> {
    await this.#end(this.#archive, signal);
  }

  /** Ends the daemon; its exit code or signal. */
  endDaemon(signal: NodeJS.Signals): Promise<number | NodeJS.Signals> {
    return this.#end(this.#daemon, signal);
  }

  /** Runs a command of the command line; its exit code. What it says goes to the logs. */
  async command(...words: string[]): Promise<number> {
    const child = this.#start("commands", ["--config", join(this.dir, "scanferry.yaml"), ...words]);
    const code = await this.#ended(child);
    return typeof code === "number" ? code : -1;
  }

  /** Tells the archive's administration something. */
  async tell(path: string, body: object): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${this.#ports.admin}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(20_000),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  }

  /** All documents of the archive, oldest first; at most `limit` of them when it is given. */
  async stored(limit = Number.POSITIVE_INFINITY): Promise<StoredDocument[]> {
    const all: StoredDocument[] = [];
    for (let after: number | null = 0; after !== null && all.length < limit; ) {
      const url: string = `http://127.0.0.1:${this.#ports.admin}/documents?after=${after}`;
      const page = (await (await fetch(url, { signal: AbortSignal.timeout(20_000) })).json()) as {
        documents: StoredDocument[];
        next: number | null;
      };
      all.push(...page.documents);
      after = page.next;
    }
    return all;
  }

  /** A request to the daemon's page, with its token. */
  page(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = {
      authorization: `Bearer ${CANARY.webToken}`,
      ...(init.method === "POST" ? { "x-scanferry": "1", "content-type": "application/json" } : {}),
    };
    return fetch(this.web + path, { signal: AbortSignal.timeout(20_000), ...init, headers });
  }

  /** Ends whatever still runs. */
  async close(): Promise<void> {
    await Promise.all([this.endDaemon("SIGKILL"), this.endArchive("SIGKILL")]);
  }

  async #startDaemon(): Promise<void> {
    const words = ["--config", join(this.dir, "scanferry.yaml"), "run"];
    // As bin/scanferry starts it, and so that it can be asked what it keeps.
    const options = [...THRIFTY_HEAP, `--import=${COLLECTED}`];
    const env = { ...THRIFTY_MALLOC, SOAK_KEPT: this.#keptFile };
    this.#daemon = this.#start("daemon", words, options, env);
    await until("the page", () =>
      this.page("/readyz").then(
        ({ ok }) => ok,
        () => false,
      ),
    );
  }

  /** What the daemon's heap keeps once all garbage is collected; undefined when it does not say. */
  async kept(): Promise<Kept | undefined> {
    rmSync(this.#keptFile, { force: true });
    try {
      process.kill(this.daemonPid, "SIGUSR2");
      return await until("what the daemon keeps", () => {
        const text = existsSync(this.#keptFile) && readFileSync(this.#keptFile, "utf8");
        return text === false ? undefined : (JSON.parse(text) as Kept);
      });
    } catch {
      return undefined;
    }
  }

  get #keptFile(): string {
    return join(this.dir, "kept");
  }

  #start(
    log: string,
    words: readonly string[],
    options: readonly string[] = [],
    env: NodeJS.ProcessEnv = {},
  ): ChildProcess {
    const output = openSync(join(this.dir, "logs", `${log}.log`), "a");
    try {
      return spawn(process.execPath, [...options, BUILT, ...words], {
        stdio: ["ignore", output, output],
        env: { ...process.env, ...env },
      });
    } finally {
      closeSync(output);
    }
  }

  async #end(
    child: ChildProcess | undefined,
    signal: NodeJS.Signals,
  ): Promise<number | NodeJS.Signals> {
    if (!child) return 0;
    if (isUp(child)) child.kill(signal);
    return this.#ended(child);
  }

  /** The exit code or signal of a process that is about to end; one that hangs is noted and killed. */
  async #ended(child: ChildProcess): Promise<number | NodeJS.Signals> {
    if (isUp(child)) {
      const late = setTimeout(() => {
        const what = child.spawnargs.find((word) => /^[a-z]/.test(word));
        this.hung.push(`${what} did not end: ${waitOf(child)}`);
        child.kill("SIGKILL");
      }, END_MS_MAX);
      await once(child, "exit");
      clearTimeout(late);
    }
    return child.exitCode ?? child.signalCode ?? 0;
  }

  #configure(): void {
    for (const [name, secret] of Object.entries(CANARY))
      writeFileSync(join(this.dir, "secrets", name), secret, { mode: 0o600 });
    const config = `archive:
  url: http://127.0.0.1:${this.#ports.archive}
  accountKeyFile: secrets/accountKey
  signing: { scheme: hmac, secretFile: secrets/signingSecret }
  timeout: 10s
mirrors:
  - { source: scans, target: /Scans, settle: 1s, incomplete: 30s }
journal: state/journal.db
upload: { concurrency: 4, retry: { initial: 500ms, max: 10s }, doubt: { window: 15s, tolerance: 5s } }
batch: { quiet: 5s }
quota: { retry: { initial: 2s, max: 15s } }
conversion: { poll: { initial: 1s, max: 15s } }
schedule: { rescan: "* * * * *" }
web: { listen: "127.0.0.1:${this.#ports.web}", tokenFile: secrets/webToken }
log: { level: trace }
shutdown: 10s
`;
    writeFileSync(join(this.dir, "scanferry.yaml"), config, { mode: 0o600 });
  }
}

/** Process ids of a process's children; none when it is gone. */
export function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    return text === "" ? [] : text.split(" ").map(Number);
  } catch {
    return [];
  }
}

function isUp(child: ChildProcess | undefined): boolean {
  return child?.exitCode === null && child.signalCode === null;
}

function pidOf(child: ChildProcess | undefined): number {
  return child?.pid ?? 0;
}

/** What each thread of a process waits for, as far as the kernel says so. */
function waitOf({ pid }: ChildProcess): string {
  try {
    const tasks = `/proc/${pid}/task`;
    const wordOf = (...path: string[]) => readFileSync(join(tasks, ...path), "utf8").trim();
    return readdirSync(tasks)
      .map((task) => `${wordOf(task, "comm")} in ${wordOf(task, "wchan")}`)
      .join(", ");
  } catch {
    return "it ended meanwhile";
  }
}
