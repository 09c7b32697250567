import type { StoreConnection } from "./store-schema.ts";

/** What one of many wants to have committed. */
type Work<T> = {
  /** Inside the transaction, in a savepoint of its own. */
  run: () => T;
  /** After the commit, in the same turn of the event loop: nobody sees the one without the other. */
  after?: (result: T) => void;
};

type Waiting = {
  work: () => void;
  after: () => void;
  done: () => void;
  failed: (error: unknown) => void;
};

/**
 * Commits together what comes at about the same time. A commit waits for the disk and lets nothing
 * else run meanwhile, so one for each of many uploads side by side would be most of their cost.
 */
export class CommitGroup {
  readonly #db: StoreConnection;
  readonly #before: () => Promise<void>;
  #waiting: Waiting[] = [];
  #isCommitting = false;

  /** @param before done once for each group, ahead of its commit: what the rows rest on */
  constructor(db: StoreConnection, before: () => Promise<void> = () => Promise.resolve()) {
    this.#db = db;
    this.#before = before;
  }

  /** Resolves with what `run` returns once that is on the disk. Works run in the order of calls. */
  run<T>({ run, after }: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let result: T;
      this.#waiting.push({
        work: () => {
          result = run();
        },
        after: () => after?.(result),
        done: () => resolve(result),
        failed: reject,
      });
      if (this.#isCommitting) return;
      this.#isCommitting = true;
      // Everything that the current turn of the event loop still brings joins the group.
      setImmediate(() => void this.#commitAll());
    });
  }

  /** What comes while one group waits for the disk is the next one. Never rejects. */
  async #commitAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#before();
        this.#commit(group);
      } catch (error) {
        for (const { failed } of group) failed(error);
      }
    }
    this.#isCommitting = false;
  }

  #commit(group: readonly Waiting[]): void {
    const worked: Waiting[] = [];
    this.#db.transaction(() => {
      for (const entry of group) if (this.#works(entry)) worked.push(entry);
    })();
    for (const { after, done, failed } of worked) {
      try {
        after();
        done();
      } catch (error) {
        failed(error);
      }
    }
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
