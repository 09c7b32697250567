/**
 * Which of an archive's work this daemon does, where several share a journal (docs/adr/0017): what it has when
 * it starts, and what it takes over while it runs. What it has stays its own until it ends.
 */
import { Wakeup } from "../std/wakeup.ts";
import type { LiveMirror, SyncContext } from "./context.ts";
import { decideAgain } from "./decided-again.ts";
import { doubtInterrupted } from "./interrupted.ts";
import { asLearned } from "./learned-settle.ts";
import { loop, type Begin } from "./loop.ts";
import { pullInUnexplained } from "./clock-skew.ts";

/** What is begun for an assignment. */
export type AssignmentLoops = {
  /** Of the archive. */
  readonly account: () => void;
  /** Of the mirrors of this context. */
  readonly mirrors: (own: SyncContext) => void;
  /** Another daemon did these until now; called before their loops begin. */
  readonly takenOver: (mirrorId: number) => Promise<void>;
};

export class Assignments {
  readonly #context: SyncContext;
  readonly #mirrors: Map<number, LiveMirror>;
  #hasAccount: boolean;

  constructor(context: SyncContext) {
    const { ownership, mirrors } = context;
    this.#context = context;
    this.#mirrors = new Map([...mirrors].filter(([id]) => ownership.owns(id)));
    this.#hasAccount = ownership.account;
  }

  /** Of loops that know only the mirrors whose loops run; there are more of them with each that is taken over. */
  get context(): SyncContext {
    return { ...this.#context, mirrors: this.#mirrors };
  }

  /** Takes up what the last run left, before any loop begins: times, doubts, and decisions by other settings. */
  async takeUp(): Promise<void> {
    if (this.#hasAccount) await this.#takeUpAccount();
    await decideAgain(this.context);
  }

  /** Begins the loops of what this daemon has, and then of what it takes over. */
  async run(loops: AssignmentLoops, begin: Begin, signal: AbortSignal): Promise<void> {
    const { journal, mirrors, ownership } = this.#context;
    if (this.#hasAccount) loops.account();
    loops.mirrors({ ...this.#context, mirrors: new Map(this.#mirrors) });
    if (!ownership.isShared) return;
    const wakeup = new Wakeup();
    const begun = new Set(this.#mirrors.keys());
    const remove = journal.cluster.listen(({ type }) => {
      if (type === "gained") wakeup.notify();
    });
    try {
      await loop(wakeup, this.#context, signal, async () => {
        if (!this.#hasAccount && ownership.account) {
          this.#hasAccount = true;
          begin(this.#takeUpAccount().then(loops.account));
        }
        for (const [id, mirror] of mirrors) {
          if (begun.has(id) || !ownership.owns(id)) continue;
          begun.add(id);
          begin(this.#takeOver(id, mirror, loops));
        }
        return Number.POSITIVE_INFINITY;
      });
    } finally {
      remove();
    }
  }

  async #takeOver(id: number, mirror: LiveMirror, loops: AssignmentLoops): Promise<void> {
    const own = { ...this.#context, mirrors: new Map([[id, mirror]]) };
    // First: what the other daemon left half moved or deleted is put back, and nothing is in hand here yet.
    await mirror.reader.host(id);
    mirror.settings = await asLearned(this.#context.journal, id, mirror.settings);
    await decideAgain(own);
    this.#mirrors.set(id, mirror);
    await loops.takenOver(id);
    loops.mirrors(own);
  }

  async #takeUpAccount(): Promise<void> {
    await pullInUnexplained(this.#context);
    await doubtInterrupted(this.#context);
  }
}
