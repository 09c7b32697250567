import type { Connection } from "./schema.ts";

type Waiting = { work: () => void; done: () => void; failed: (error: unknown) => void };

/**
 * Commits together what comes at about the same time. A commit waits for the disk and lets nothing
 * else run meanwhile, so one for each of many uploads side by side would be most of their cost.
 */
export class CommitGroup {
  readonly #db: Connection;
  #waiting: Waiting[] = [];

  constructor(db: Connection) {
    this.#db = db;
  }

  /** Resolves with what `work` returns once that is on the disk. Works run in the order of calls. */
  run<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let result: T;
      const entry: Waiting = {
        work: () => {
          result = work();
        },
        done: () => resolve(result),
        failed: reject,
      };
      // Everything that the current turn of the event loop still brings joins the group.
      if (this.#waiting.push(entry) === 1) setImmediate(() => this.#commit());
    });
  }

  #commit(): void {
    const group = this.#waiting;
    this.#waiting = [];
    const worked: Waiting[] = [];
    try {
      this.#db.transaction(() => {
        for (const entry of group) if (this.#works(entry)) worked.push(entry);
      })();
    } catch (error) {
      for (const { failed } of worked) failed(error);
      return;
    }
    for (const { done } of worked) done();
  }

  /** A savepoint of its own: one that fails takes none of the others along. */
  #works({ work, failed }: Waiting): boolean {
    try {
      this.#db.transaction(work)();
      return true;
    } catch (error) {
      failed(error);
      return false;
    }
  }
}
