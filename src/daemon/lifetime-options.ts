import type { Config } from "../config/config.ts";
import type { AdministratorView } from "../dashboard/options.ts";
import type { Clock } from "../std/clock.ts";
import type { Daemon } from "./daemon.ts";
import type { OpenLog } from "./open-log.ts";
import type { Notifier } from "./notifier.ts";

/** What the lifetime of a daemon is made of. */
export type LifetimeOptions = {
  /** Reads the config; called at the start and at every SIGHUP. */
  readonly load: () => Promise<Config>;
  /** Opened again with every config; let go of when that life is over. */
  readonly openLog: (config: Config) => OpenLog;
  /** What the page shows an administrator of a daemon with this config; default: nothing. */
  readonly inspection?: (config: Config) => AdministratorView;
  readonly started?: (daemon: Daemon) => void;
  /** Called at every step. Default: nothing. */
  readonly notifier?: Notifier;
  readonly clock?: Clock;
};
