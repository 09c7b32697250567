/**
 * The lifetime of `run`: signals in, a clean end out.
 *
 *     starting -> running    everything is open
 *     running  -> draining   SIGTERM or SIGINT: what is being sent is finished within `shutdown`
 *     draining -> aborted    a second SIGTERM or SIGINT: at once; what had left is in doubt
 *     running  -> starting   SIGHUP with a config that is good; a bad one changes nothing
 */
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import { Stopping } from "../std/abort.ts";
import { messageOf } from "../std/fault.ts";
import type { Log } from "../std/log.ts";
import { Daemon } from "./daemon.ts";

export type LifetimeOptions = {
  /** Reads the config; called at the start and at every SIGHUP. */
  readonly load: () => Promise<Config>;
  readonly openLog: (config: Config) => Log;
  readonly started?: (daemon: Daemon) => void;
};

/** Runs until SIGTERM or SIGINT; resolves on a clean end, rejects on a failure. */
export async function liveDaemon(options: LifetimeOptions): Promise<void> {
  let config: Config | undefined = await options.load();
  const stopping = new AbortController();
  while (config && !stopping.signal.aborted) {
    config = await oneLife(config, options, stopping);
  }
}

/** One life, from open to closed; returns the config of the next one, undefined when it is over. */
async function oneLife(
  config: Config,
  { load, openLog, started }: LifetimeOptions,
  stopping: AbortController,
): Promise<Config | undefined> {
  const log = openLog(config);
  const ended = new AbortController();
  let next: Config | undefined;
  await using daemon = await Daemon.open({ config, log });
  const stop = () => {
    if (stopping.signal.aborted) process.kill(process.pid, "SIGKILL");
    stopping.abort(new Stopping());
    ended.abort(new Stopping());
  };
  const reload = async () => {
    try {
      next = await load();
      log.info({}, "config read again; starting over with it");
      ended.abort(new Stopping("reload"));
    } catch (error) {
      const lines = error instanceof ConfigError ? error.lines() : [messageOf(error)];
      log.error({ problems: lines }, "the new config is refused; the old one stays");
    }
  };
  const rescan = () => daemon.rescan("SIGUSR1");
  const handlers = [
    ["SIGTERM", stop],
    ["SIGINT", stop],
    ["SIGHUP", () => void reload()],
    ["SIGUSR1", rescan],
  ] as const;
  for (const [signal, handler] of handlers) process.on(signal, handler);
  try {
    started?.(daemon);
    await daemon.run(ended.signal);
  } finally {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  }
  return next;
}
