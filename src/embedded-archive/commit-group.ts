import type { Database } from "better-sqlite3";

/** `work` returns what is to be done once it is committed. */
type Waiting = { work: () => () => void; reject: (error: unknown) => void };

/**
 * Commits together what comes at about the same time. A commit waits for the disk and lets nothing
 * else run meanwhile, so one for each of many uploads side by side would be most of their cost.
 */
export class CommitGroup {
  readonly #db: Database;
  readonly #before: () => Promise<void>;
  #waiting: Waiting[] = [];
  #isCommitting = false;

  /** @param before done once for each group, ahead of its commit: what the rows rest on */
  constructor(db: Database, before: () => Promise<void> = () => Promise.resolve()) {
    this.#db = db;
    this.#before = before;
  }

  /**
   * Resolves with what `run` returns once that is on the disk. Works run in the order of calls, inside the
   * transaction, each in a savepoint of its own; `after` follows in the same turn of the event loop as the commit:
   * nobody sees the one without the other.
   */
  run<T>(run: () => T, after?: (result: T) => void): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const work = () => {
      const result = run();
      return () => {
        after?.(result);
        resolve(result);
      };
    };
    this.#waiting.push({ work, reject });
    // Everything that the current turn of the event loop still brings joins the group.
    if (!this.#isCommitting) setImmediate(() => void this.#commitAll());
    this.#isCommitting = true;
    return promise;
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
        for (const { reject } of group) reject(error);
      }
    }
    this.#isCommitting = false;
  }

  #commit(group: readonly Waiting[]): void {
    const committed: { finish: () => void; reject: (error: unknown) => void }[] = [];
    this.#db.transaction(() => {
      // A savepoint of its own: one that fails takes none of the others along.
      for (const { work, reject } of group)
        attempt(() => committed.push({ finish: this.#db.transaction(work)(), reject }), reject);
    })();
    for (const { finish, reject } of committed) attempt(finish, reject);
  }
}

function attempt(work: () => unknown, reject: (error: unknown) => void): void {
  try {
    work();
  } catch (error) {
    reject(error);
  }
}
