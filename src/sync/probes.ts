import type { Documents, WorkQueue } from "../journal/journal.ts";
import type { Document } from "../domain/document.ts";
import { GATE_CODES } from "../domain/code-sets.ts";
import { isReachable, type SyncContext } from "./context.ts";
import { goOn, hasOwnProblem } from "./retry.ts";

/** Among so many another one is looked for. */
const OTHERS_MAX = 500;

/** Which document probes a closed gate: one at a time, and not for ever one that has problem of its own. */
export class Probes {
  readonly #context: SyncContext<Documents & WorkQueue>;
  #astray = false;
  readonly #spare = new Set<number>();

  constructor(context: SyncContext<Documents & WorkQueue>) {
    this.#context = context;
  }

  /** The last probe brought a word about the account (false), or none: another document may. */
  set astray(astray: boolean) {
    this.#astray = astray;
  }

  /** A row with problem of its own, whose time has come: it probes where nothing else waits. */
  spare(id: number): void {
    this.#spare.add(id);
  }

  /** The gate is open. */
  forget(): void {
    this.#astray = false;
    this.#spare.clear();
  }

  /** The document to probe with, as a pending row; undefined where nothing waits that could be sent. */
  async next(): Promise<Document | undefined> {
    const { journal, clock } = this.#context;
    const at = clock.now();
    const held = await this.#held();
    if (!held) {
      const [pending] = await journal.due({ state: "pending", now: at, limit: 1 });
      return pending ?? this.#spared();
    }
    const [applied] = await journal.apply([goOn(held, at)]);
    return applied?.document;
  }

  /**
   * The smallest, since a small one gets through first when an allowance comes back little by
   * little. Where the last probe told nothing, any other one: what is like it may be as small.
   */
  async #held(): Promise<Document | undefined> {
    const { journal, random } = this.#context;
    const up = this.#up;
    const smallest = await journal.smallestHeld(GATE_CODES, up);
    if (!smallest || !this.#astray) return smallest;
    const held = await journal.heldWith(GATE_CODES, OTHERS_MAX);
    const others = held.filter(({ id, mirrorId }) => id !== smallest.id && up.includes(mirrorId));
    return others[Math.min(Math.floor(random() * others.length), others.length - 1)] ?? smallest;
  }

  /** The first whose time had come; not by way of `goOn`, which would have it decided upon again first. */
  async #spared(): Promise<Document | undefined> {
    const { journal, clock } = this.#context;
    for (const id of this.#spare) {
      this.#spare.delete(id);
      const row = await journal.document(id);
      if (row?.state !== "held" || !hasOwnProblem(row) || !this.#up.includes(row.mirrorId))
        continue;
      const event = { type: "goesOn", at: clock.now() } as const;
      const [applied] = await journal.apply([{ type: "event", id, event, from: ["held"] }]);
      return applied?.document;
    }
    return undefined;
  }

  /** Mirrors whose reader would send what is claimed. */
  get #up(): number[] {
    return [...this.#context.mirrors].flatMap(([id, mirror]) => (isReachable(mirror) ? [id] : []));
  }
}
