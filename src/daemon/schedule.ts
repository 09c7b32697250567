/** Schedules by cron expressions (seconds allowed), in the host's time zone. */
import { createTask } from "node-cron";

export class Schedule implements Disposable {
  readonly #task: ReturnType<typeof createTask>;

  private constructor(expression: string, run: () => void) {
    this.#task = createTask(expression, run);
    void this.#task.start();
  }

  /** Calls `run` at every moment of `expression`, until disposed. */
  static start(expression: string, run: () => void): Schedule {
    return new Schedule(expression, run);
  }

  /** The next moment, epoch milliseconds; null when there is none. */
  next(): number | null {
    return this.#task.getNextRun()?.getTime() ?? null;
  }

  [Symbol.dispose](): void {
    void this.#task.destroy();
  }
}
