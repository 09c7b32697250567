/**
 * The lifetime of `run`: signals in, a clean end out.
 *
 *     starting -> running    everything is open
 *     running  -> draining   SIGTERM or SIGINT: what is being sent is finished within `shutdown`
 *     draining -> killed     a second SIGTERM or SIGINT: at once; what had left is in doubt
 *     running  -> starting   SIGHUP with a config that is good; a bad one changes nothing
 */
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import { Stopping } from "../std/abort.ts";
import { messageOf } from "../std/fault.ts";
import type { Log } from "../std/log.ts";
import { Daemon } from "./daemon.ts";
import type { OpenLog } from "./log.ts";

export type LifetimeOptions = {
  /** Reads the config; called at the start and at every SIGHUP. */
  readonly load: () => Promise<Config>;
  /** Opened anew with every config; let go of when that life is over. */
  readonly openLog: (config: Config) => OpenLog;
  readonly started?: (daemon: Daemon) => void;
};

/** Runs until SIGTERM or SIGINT; resolves on a clean end, rejects on a failure. */
export async function liveDaemon(options: LifetimeOptions): Promise<void> {
  const lifetime = new Lifetime(options);
  const handlers = [
    ["SIGTERM", () => lifetime.stop()],
    ["SIGINT", () => lifetime.stop()],
    ["SIGHUP", () => void lifetime.reload()],
    ["SIGUSR1", () => lifetime.rescan()],
  ] as const;
  for (const [signal, handler] of handlers) process.on(signal, handler);
  try {
    await lifetime.run();
  } finally {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  }
}

/** One daemon after another, each with its own config; signals may come at any moment. */
class Lifetime {
  readonly #options: LifetimeOptions;
  readonly #stopping = new AbortController();
  /** Ends the present life. */
  #ending = new AbortController();
  #daemon: Daemon | undefined;
  #log: Log | undefined;
  #next: Config | undefined;

  constructor(options: LifetimeOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    this.#next = await this.#options.load();
    while (this.#next && !this.#stopping.signal.aborted) {
      const config = this.#next;
      this.#next = undefined;
      await this.#live(config);
    }
  }

  stop(): void {
    if (this.#stopping.signal.aborted) process.kill(process.pid, "SIGKILL");
    this.#stopping.abort(new Stopping());
    this.#ending.abort(new Stopping());
  }

  rescan(): void {
    this.#daemon?.rescan("SIGUSR1");
  }

  async reload(): Promise<void> {
    try {
      this.#next = await this.#options.load();
      this.#log?.info({}, "config read again; starting over with it");
      this.#ending.abort(new Stopping("reload"));
    } catch (error) {
      const problems = error instanceof ConfigError ? error.lines() : [messageOf(error)];
      this.#log?.error({ problems }, "the new config is refused; the old one stays");
    }
  }

  async #live(config: Config): Promise<void> {
    this.#ending = new AbortController();
    using log = this.#options.openLog(config);
    this.#log = log;
    await using daemon = await Daemon.open({ config, log });
    this.#daemon = daemon;
    try {
      if (this.#stopping.signal.aborted) return;
      this.#options.started?.(daemon);
      await daemon.run(this.#ending.signal);
    } finally {
      this.#daemon = undefined;
    }
  }
}
