import type { HookCalls } from "./protocol.ts";

/**
 * Process groups of running hooks. Each hook leads a group of its own, so that whatever it starts
 * ends with it.
 */
const running = new Set<number>();

/** A group that this process has started. */
export function beginGroup(group: number): void {
  running.add(group);
}

/** Kills every process of a group; one that is gone already is no error. */
export function endGroup(group: number): void {
  running.delete(group);
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // Nobody is left in it.
  }
}

/** Kills all that this process has started and that still runs. */
export function endAllGroups(): void {
  for (const group of running) endGroup(group);
}

/** What the handle on a reader knows of its hooks, to end those that outlive it. */
export class HookGroups {
  readonly #running = new Set<number>();
  #isOver = false;

  readonly calls: HookCalls = {
    hookBegun: async (group) => {
      // A last word of a reader that is gone.
      if (this.#isOver) endGroup(group);
      else this.#running.add(group);
    },
    hookEnded: async (group) => {
      this.#running.delete(group);
    },
  };

  /** The reader is gone. */
  end(): void {
    this.#isOver = true;
    for (const group of this.#running) endGroup(group);
    this.#running.clear();
  }
}
