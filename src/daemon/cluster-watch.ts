/** Follows what happens in the cluster while this daemon's loops run. */
import {
  assignmentText,
  type Assignment,
  type Cluster,
  type ClusterChange,
} from "../journal/cluster.ts";
import { JOURNAL_HINTS } from "../journal/journal-fault.ts";
import { Fault } from "../std/fault.ts";
import type { Log } from "../std/log.ts";
import { isShared } from "../sync/ownership.ts";
import type { Config } from "../config/config.ts";
import type { MirrorRow } from "../journal/rows.ts";
import { readMounts } from "../source/mounts.ts";
import { isLocal } from "../sync/reader-mirror.ts";

/** Why the loops have to start again: the lease is lost, or an archive is another. */
export type StartOver = "lost" | "replaced";

/** What is sought, and which of it this host is near to. */
type Sought = Readonly<Record<"assignments" | "local", readonly Assignment[]>>;

export class ClusterWatch implements Disposable {
  readonly #cluster: Cluster;
  readonly #log: Log;
  readonly #listening: () => void;
  readonly #startOver = Promise.withResolvers<StartOver>();
  #away: string | undefined;
  #fault: Fault | undefined;
  /** Told when the journal goes away: who asked it something would wait until it is back. */
  readonly #asking = new Set<(why: string) => void>();
  #isLost = false;
  /** Told when the journal can be reached again. */
  readonly #back: () => void;

  private constructor(cluster: Cluster, log: Log, back: () => void) {
    this.#cluster = cluster;
    this.#log = log;
    this.#back = back;
    this.#listening = cluster.listen((change) => this.#heard(change));
  }

  /** Seeks the assignments, some of which this host is near to. */
  static async open(
    cluster: Cluster,
    sought: () => Sought,
    log: Log,
    back: () => void,
  ): Promise<ClusterWatch> {
    const watch = new ClusterWatch(cluster, log, back);
    if (!isShared(cluster)) return watch;
    const { assignments, local } = sought();
    await cluster.seek(assignments, local);
    const led = assignments.filter((assignment) => cluster.owns(assignment)).map(assignmentText);
    log.info({ instance: cluster.instanceId, assignments: led }, "assignments taken");
    return watch;
  }

  /** Resolves when the loops have to start again. */
  get startOver(): Promise<StartOver> {
    return this.#startOver.promise;
  }

  /** What there is to say while the journal cannot be reached; undefined while it can. */
  get away(): string | undefined {
    return this.#away;
  }

  /** What stands against it, where it is the host, and not the way to a database. */
  get fault(): Fault | undefined {
    return this.#fault;
  }

  /** Why the journal cannot be used just now, whatever keeps it from that; undefined while it can. */
  get problem(): Fault | undefined {
    if (this.#fault || this.#away === undefined) return this.#fault;
    return new Fault("JOURNAL_UNREACHABLE", this.#away, JOURNAL_HINTS.JOURNAL_UNREACHABLE);
  }

  /**
   * What `ask` finds in the journal, or what `instead` makes of its being away: at once where it is, or as
   * soon as it goes away meanwhile.
   */
  async answered<T>(ask: () => Promise<T>, instead: (why: string) => T): Promise<T> {
    if (this.#away !== undefined) return instead(this.#away);
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#asking.add(resolve);
    try {
      return await Promise.race([ask(), promise.then(instead)]);
    } finally {
      this.#asking.delete(resolve);
    }
  }

  /** Nothing that this daemon does is journaled any more. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** An archive is another one: what the loops know of it is history. */
  replaced(): void {
    this.#log.info({}, "an archive was replaced; restarting");
    this.#startOver.resolve("replaced");
  }

  [Symbol.dispose](): void {
    this.#listening();
  }

  #heard(change: ClusterChange): void {
    const log = this.#log;
    switch (change.type) {
      case "gained":
        log.info({ assignments: change.assignments.map(assignmentText) }, "new assignments");
        return;
      case "others-lost": {
        const instances = change.instances.map(({ name, id }) => ({ name, id }));
        log.warn(
          { instances },
          "other daemons stopped; the documents that they were sending are in doubt",
        );
        return;
      }
      case "away":
        this.#fault = change.fault;
        this.#away = `${change.fault?.code ?? "the journal cannot be reached"}: ${change.why}`;
        log.warn(
          { why: this.#fault ? this.#away : change.why },
          `the journal cannot be ${this.#fault ? "used" : "reached"}; nothing new is sent`,
        );
        for (const ask of this.#asking) ask(this.#away);
        return;
      case "back":
        log.info({}, `the journal can be ${this.#fault ? "used" : "reached"} again`);
        this.#away = undefined;
        this.#fault = undefined;
        this.#back();
        return;
      case "lost":
        this.#isLost = true;
        log.warn(
          { code: "LEASE_LOST", instance: this.#cluster.instanceId },
          "lost the lease; joining the cluster again as a new instance",
        );
        this.#startOver.resolve("lost");
    }
  }
}

/** All assignments of these archives and their configured mirrors, and which of them this host is near to. */
export function soughtBy(
  config: Config,
  archiveIds: readonly number[],
  rows: readonly MirrorRow[],
): Sought {
  const mounts = readMounts();
  const assignments = archiveIds.map((id): Assignment => ({ kind: "account", id }));
  const local: Assignment[] = [];
  for (const mirror of config.mirrors) {
    const row = rows.find(({ name }) => name === mirror.name);
    if (!row) continue;
    const assignment: Assignment = { kind: "mirror", id: row.id };
    assignments.push(assignment);
    if (isLocal(mirror, mounts, row.device)) local.push(assignment);
  }
  return { assignments, local };
}
