import type { EffectiveKey } from "../config/load-config.ts";
import type { State } from "../domain/document.ts";
import type { Journal } from "../journal/journal.ts";
import type { Clock } from "../std/clock.ts";
import type { Fault } from "../std/fault.ts";
import type { Log } from "../std/log.ts";
import type { Finding } from "../report/finding.ts";
import type { Standing } from "../report/standing.ts";
import type { UploadMeter } from "./upload-meter.ts";
import type { ChoiceOutcome, ShownDocument } from "../sync/first-run-choice.ts";
import type { Chosen } from "../sync/retry.ts";

/**
 * Whether work is moving, not merely whether the process is up. `healthy` is what a supervisor may
 * restart on; `ready` is whether the daemon has started and can take work; `why` is one sentence.
 */
export type Health = { healthy: boolean; ready: boolean; why: string };

/** What a person may ask for from the page. Each resolves once it is journaled or under way. */
export type Actions = {
  /**
   * Puts held or failed documents back in the queue; `anyway`: unfinished files, as they are. Resolves with how many
   * documents it changed.
   */
  retry(chosen: Chosen, anyway: boolean): Promise<number>;
  /** Links documents that are held as `FIRST_RUN`, as they were shown, to what the archive has. Rejects with a `Fault`. */
  adopt(shown: readonly ShownDocument[]): Promise<ChoiceOutcome>;
  /** Sends them although the archive may have them. */
  sendAsNew(shown: readonly ShownDocument[]): Promise<ChoiceOutcome>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Looks through every source now. */
  rescan(): Promise<void>;
};

/** What a channel did since the start, that tells people what is wrong. */
export type ChannelReport = {
  name: string;
  /** Messages that were taken. */
  sent: number;
  /** Tries that failed. */
  failed: number;
  /** Messages that were given up. */
  dropped: number;
  waiting: number;
};

/** What an administrator may look at. */
export type AdministratorView = {
  /** The latest lines of the log as JSON, without secrets, the oldest first. */
  readonly lines: () => readonly string[];
  /** Of the configuration in use, without secrets. */
  readonly keys: readonly EffectiveKey[];
  /** Runs `scanferry check`; rejects where that gives no answer. */
  readonly check: () => Promise<object>;
};

/** What the web listener is made of. */
export type DashboardOptions = {
  /** `host` without brackets; port 0 takes any free one. */
  listen: { host: string; port: number };
  /** Names of reverse proxies before it, lower case; default: none. With any, everyone needs the token. */
  names?: readonly string[] | undefined;
  /** Only ever read from, a bounded number of rows at a time. */
  journal: Journal;
  standing: () => Promise<Standing & { readonly health: Health }>;
  health: () => Promise<Health>;
  /**
   * Why nothing goes on with a document though nothing is wrong with itself; null where nothing keeps it.
   * Default: nothing ever does.
   */
  waits?: (document: { readonly mirror: string; readonly state: State }) => Promise<Finding | null>;
  /** Why the journal cannot be used just now; default: it always can. */
  away?: () => string | undefined;
  /** What stands against it, where it is the host; else nobody reaches its database. */
  fault?: () => Fault | undefined;
  log: Log;
  clock: Clock;
  version: string;
  /**
   * A secret. Beyond loopback nothing but `/healthz` and `/readyz` answers without it; on loopback
   * it is asked for when it is given. An empty one counts as none.
   */
  token?: string | undefined;
  actions: Actions;
  /** Default: there is nothing to look at. */
  inspection?: AdministratorView | undefined;
  /** How far uploads are; default: nobody knows. */
  uploads?: Pick<UploadMeter, "read" | "changed">;
  /** What the channels did that tell people; default: there are none. */
  channels?: () => readonly ChannelReport[];
};
