import type { Cluster } from "../journal/cluster.ts";
import type { Clock, HostClock, Random } from "../std/clock.ts";
import type { Log } from "../std/log.ts";
import type { DaemonCalls, MirrorStatus, ReaderMirror, SignCalls } from "./protocol.ts";
import type { LivenessLimits } from "./liveness.ts";
import type { ArchiveSettings } from "../archive/archive.ts";

/** What a reader's handle works with, and whom it tells. */
export type ReaderOptions = {
  /** For the log: the mount point, say. */
  readonly name: string;
  /** What the reader hosts; asked again at every start, for the fingerprints known by then, and by `host` for one. */
  readonly mirrors: (only?: number) => Promise<readonly ReaderMirror[]>;
  /** Null: a reader that only looks (`plan`, `check`). */
  readonly archive: () => ArchiveSettings | null;
  readonly daemon: DaemonCalls;
  /** Signs where the archive asks for a module; a reader that only looks needs none. */
  readonly sign?: SignCalls["sign"];
  /** Where several daemons share the journal: how long this one may send. */
  readonly cluster?: Pick<Cluster, "leaseMs" | "sendLeftMs">;
  /** The host's own clocks unless a test brings others. */
  readonly host?: HostClock;
  /** Told when a process runs, before it touches a source. */
  readonly begun?: () => void;
  /** Told after every start, with the state of each source. */
  readonly started: (statuses: readonly MirrorStatus[], restart: boolean) => void;
  /** Told what is wrong with the sources when its processes do not start, or one was killed that did not answer. */
  readonly down?: (what: string) => void;
  /** Told when `silent` has changed. */
  readonly silence?: () => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly livenessLimits?: LivenessLimits;
};
