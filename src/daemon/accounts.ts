/** The accounts of a daemon: one an archive, each with loops of its own that know no other. */
import type { Config } from "../config/config.ts";
import type { Applied, Journal } from "../journal/journal.ts";
import { isAbortOf } from "../std/abort.ts";
import type { IdentityGuard } from "../sync/archive-identity.ts";
import type { ScanScheduler } from "../sync/scan-scheduler.ts";
import type { Sync } from "../sync/sync.ts";
import type { Heartbeats } from "./heartbeats.ts";

/** An archive, its mirrors, and the loops that carry them. */
export type LiveAccount = {
  /** Of this archive alone. */
  readonly config: Config;
  /** Speaks for this archive. */
  readonly journal: Journal;
  readonly sync: Sync;
  readonly identity: IdentityGuard;
  readonly hearts: Heartbeats;
  /** Whether a mirror, also one that is not configured any more, is carried into this archive. */
  readonly owns: (mirrorId: number) => boolean;
};

export class Accounts {
  readonly all: readonly LiveAccount[];

  constructor(all: readonly LiveAccount[]) {
    this.all = all;
  }

  get scanSchedulers(): ScanScheduler[] {
    return this.all.flatMap(({ sync }) => [...sync.scanSchedulers.values()]);
  }

  /** Documents that are claimed or being sent. */
  get underWay(): number {
    return this.all.reduce((sum, { sync }) => sum + sync.underWay, 0);
  }

  /** Says which loop is stuck; undefined while all are well. */
  stuck(): string | undefined {
    for (const { hearts, config } of this.all) {
      const stuck = hearts.stuck();
      if (stuck === undefined) continue;
      return this.all.length === 1 ? stuck : `archive ${config.archive.name}: ${stuck}`;
    }
    return undefined;
  }

  /** Nobody could do anything for a while: what stood still counts from now on. */
  rest(): void {
    for (const { hearts } of this.all) hearts.rest();
  }

  /** Tells each what was journaled of its own mirrors. */
  journaled(applied: readonly Applied[]): void {
    for (const { owns, hearts, sync } of this.all) {
      const own = applied.filter(({ document }) => document && owns(document.mirrorId));
      hearts.journaled(own);
      sync.journaled(own);
    }
  }

  /** Runs the loops of all; rejects with the first failure of any, which ends the others. */
  async run(stopping: AbortSignal): Promise<void> {
    const failed = new AbortController();
    const signal = AbortSignal.any([stopping, failed.signal]);
    const outcomes = await Promise.allSettled(
      this.all.map(async ({ sync }) => {
        try {
          await sync.run(signal);
        } catch (error) {
          if (isAbortOf(signal, error)) return;
          failed.abort(error);
          throw error;
        }
      }),
    );
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }

  rescan(why: string): void {
    for (const { sync } of this.all) sync.rescan(why);
  }

  /** Takes up what was written to the journal next to the loops. */
  async reread(): Promise<void> {
    for (const { sync } of this.all) await sync.reread();
  }

  /** Ends sending: what is being sent is finished until `deadline` aborts. */
  async drain(deadline: AbortSignal): Promise<void> {
    await Promise.all(this.all.map(({ sync }) => sync.drain(deadline)));
  }
}
