import type { AdministratorView } from "../dashboard/dashboard.ts";
import type { Config } from "../config/config.ts";
import type { Clock, Random } from "../std/clock.ts";
import type { Log } from "../std/log.ts";
import type { DaemonJournal } from "./daemon-journal.ts";
import type { PartsOptions } from "./parts.ts";

/** What next to the configuration differs between `run`, `sync`, `adopt` and tests. */
export type DaemonOptions = {
  readonly config: Config;
  readonly log: Log;
  readonly clock?: Clock;
  readonly random?: Random;
  /** False: files are watched and journaled, and nothing is sent (`adopt`). Default true. */
  readonly sending?: boolean;
  /** False: no web listener, whatever the config says (`sync`). */
  readonly web?: boolean;
  /** An address for the page that is not there yet is waited for; else opening rejects. */
  readonly pageWaits?: boolean;
  /** False: nobody learns about anything, whatever the config says (`sync`). */
  readonly tells?: boolean;
  /** How often to look for what people are to be told; milliseconds. */
  readonly tellLookMs?: number;
  /** Open already; else it is opened. Closed at the end. */
  readonly journal?: DaemonJournal | undefined;
  /** See `JournalOpening`. */
  readonly patience?: AbortSignal;
  /** Aborts when it is asked to end, where it has no patience; see `JournalOpening`. */
  readonly ending?: AbortSignal;
  /** What the page shows an administrator; default: nothing. */
  readonly inspection?: AdministratorView | undefined;
  /** Called for everything that is journaled, after it is durable. */
  readonly journaled?: NonNullable<PartsOptions["journaled"]>;
};
