/** A place at which one of the cluster works: a host of its own, a configuration, and now and then a daemon. */
import { aProcess, childrenOf, type Running } from "../../test/fixtures/a-process.ts";
import type { PrivateHost, Way } from "../../test/fixtures/private-network.ts";

/** Which processes of a daemon stand still: as a suspended machine's do, or some of them. */
export type Frozen = "all" | "daemon" | "readers";

export class Post {
  readonly name: string;
  readonly #config: string;
  readonly #main: string;
  readonly #host: PrivateHost | undefined;
  readonly #env: NodeJS.ProcessEnv;
  #running: Running | undefined;
  #frozen: number[] = [];
  #past = "";
  #lives = 0;

  constructor(
    name: string,
    config: string,
    main: string,
    host: PrivateHost | undefined,
    env: NodeJS.ProcessEnv,
  ) {
    this.name = name;
    this.#config = config;
    this.#main = main;
    this.#host = host;
    this.#env = env;
  }

  get isManned(): boolean {
    return this.#running !== undefined;
  }

  get isFrozen(): boolean {
    return this.#frozen.length > 0;
  }

  /** Daemons that there were. */
  get lives(): number {
    return this.#lives;
  }

  /** All that its daemons printed, the latest last. */
  get said(): string {
    const now = this.#running?.output;
    return this.#past + (now ? now.stdout + now.stderr : "");
  }

  start(): void {
    const words = ["--config", this.#config, "run"];
    this.#running = aProcess(words, this.#env, this.#host?.within, this.#main);
    this.#lives += 1;
  }

  /** What is wrong with it: nobody but `end` may end a daemon. */
  ended(): string[] {
    const { child, output } = this.#running ?? {};
    if (!child || (child.exitCode === null && child.signalCode === null)) return [];
    const how = child.exitCode ?? child.signalCode;
    this.#retire();
    return [`${this.name} ended on its own with ${how}: ${output?.stderr.slice(-1_000)}`];
  }

  /**
   * Its exit code, or the signal that ended it. A reader that stands still stays behind, and goes on
   * when it is thawed.
   */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<number | NodeJS.Signals | undefined> {
    const code = await this.#running?.end(signal);
    this.#retire();
    return code;
  }

  /** False where there is none just now. */
  killReader(): boolean {
    const [reader] = childrenOf(this.#running?.child.pid);
    return reader !== undefined && killed(reader, "SIGKILL");
  }

  freeze(which: Frozen): void {
    const daemon = this.#running?.child.pid;
    if (daemon === undefined) return;
    // The parent first: it would take a reader's standing still for a hang.
    const pids = which === "readers" ? [] : [daemon];
    for (const pid of pids) killed(pid, "SIGSTOP");
    const readers = which === "daemon" ? [] : childrenOf(daemon);
    for (const pid of readers) killed(pid, "SIGSTOP");
    this.#frozen = [...pids, ...readers];
  }

  thaw(): void {
    for (const pid of this.#frozen.toReversed()) killed(pid, "SIGCONT");
    this.#frozen = [];
  }

  /** True where it can be cut off from the others. */
  get hasCable(): boolean {
    return this.#host !== undefined;
  }

  lose(port: number, way: Way): void {
    this.#host?.lose(port, way);
  }

  unplug(): void {
    this.#host?.unplug();
  }

  heal(): void {
    this.#host?.heal();
  }

  #retire(): void {
    this.#past += `${this.#running?.output.stdout ?? ""}${this.#running?.output.stderr ?? ""}`;
    this.#running = undefined;
  }
}

function killed(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    // It was quicker.
    return false;
  }
}
