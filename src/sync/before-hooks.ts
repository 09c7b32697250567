/**
 * Asking `before` hooks. A document that is whole and quiet stays `settling` while its hook is asked;
 * what the hook answers is journaled together with what becomes of the document, and only when the
 * file is still what it was. Who is asked about is in memory alone: after a crash the row is due as
 * it was, and the hook is asked again.
 */
import type { BeforeHook } from "../config/mirror-section.ts";
import type { Document } from "../domain/document.ts";
import type { Attributes } from "../domain/attributes.ts";
import type { Change, Documents } from "../journal/journal.ts";
import { ChannelClosed } from "../reader/rpc-channel.ts";
import { type HookAnswer, ANSWER_BYTES_MAX, answerOf } from "../rules/answer.ts";
import { aborted } from "../std/abort.ts";
import type { RawPath } from "../std/raw-path.ts";
import { type Whole, decisionOn, type Readying } from "./prepare.ts";
import { asSeen } from "./changes.ts";
import type { LiveMirror, SyncContext } from "./context.ts";
import { questionOf } from "./hook-input.ts";
import { HOLD } from "./waits.ts";
import PQueue from "p-queue";

/** A file of a mirror with a hook, ready but for the hook's answer. */
type Asked = {
  readonly mirror: LiveMirror;
  readonly path: RawPath;
  readonly hook: BeforeHook;
  readonly document: Document;
  readonly found: Whole;
  readonly remark: string | null;
};

/** Whom the hook of a mirror is being asked about, by their ids, and in which order. */
type Channel = { readonly asked: Set<number>; readonly queue: PQueue };

const NOBODY: ReadonlySet<number> = new Set();

export class BeforeHooks {
  readonly #context: SyncContext<Documents>;
  readonly #readying: Readying;
  readonly #lines = new Map<number, Channel>();
  readonly #broken = Promise.withResolvers<never>();

  constructor(context: SyncContext<Documents>, readying: Readying) {
    this.#context = context;
    this.#readying = readying;
    this.#broken.promise.catch(() => {});
  }

  /** Rejects with the first failure that no hook is to blame for, or when `stopping` aborts. */
  run(stopping: AbortSignal): Promise<never> {
    return Promise.race([this.#broken.promise, aborted(stopping)]);
  }

  /** How many more documents of a mirror may be asked about; any number without a hook. */
  room({ row, settings }: LiveMirror): number {
    const { before } = settings.hooks ?? {};
    if (!before) return Number.POSITIVE_INFINITY;
    return before.concurrency - (this.#lines.get(row.id)?.asked.size ?? 0);
  }

  /** Documents of the mirror that its hook is being asked about. */
  asked({ row }: LiveMirror): ReadonlySet<number> {
    return this.#lines.get(row.id)?.asked ?? NOBODY;
  }

  /** Begins to ask; rings the mirror's wake-ups when there is an answer. */
  ask(asked: Asked): void {
    const { mirror, hook, document } = asked;
    const line = this.#lines.get(mirror.row.id) ?? {
      asked: new Set(),
      // Both lanes of a mirror ask: only this keeps them within its bounds.
      queue: new PQueue({ concurrency: hook.concurrency }),
    };
    this.#lines.set(mirror.row.id, line);
    line.asked.add(document.id);
    void line.queue.add(async () => {
      try {
        await this.#journal(document, await this.#outcome(asked));
      } catch (error) {
        // A reader that is gone comes back; the row is due as it was.
        if (!(error instanceof ChannelClosed)) this.#broken.reject(error);
      } finally {
        line.asked.delete(document.id);
        mirror.settling.small.notify();
        mirror.settling.large.notify();
      }
    });
  }

  /** What the answer changes; nothing where the row has moved on meanwhile. */
  async #journal(document: Document, changes: readonly Change[]): Promise<void> {
    const { journal } = this.#context;
    const now = await journal.document(document.id);
    if (now?.state === "settling") await journal.apply(asSeen(document, changes));
  }

  /** Rejects with `ChannelClosed` when the reader is gone. */
  async #outcome(asked: Asked): Promise<Change[]> {
    const { mirror, hook, document, found, remark } = asked;
    const { clock, redact } = this.#context;
    const decision = await this.#readying.decision(mirror, document, found);
    // What the rules hold is not for the hook to judge.
    if ("problem" in decision) return [this.#readying.undecided(document, decision.problem)];
    const ended = await mirror.reader.hook({
      command: hook.command,
      timeoutMs: hook.timeoutMs,
      input: questionOf(mirror, document, found, decision.decided),
      outputBytesMax: ANSWER_BYTES_MAX,
    });
    const changed = await this.#changed(asked);
    if (changed) return changed;
    const read = "failure" in ended ? { fault: ended.failure } : answerOf(ended.output);
    if ("fault" in read) {
      return this.#failed(asked, redact(`the before hook failed: ${read.fault}`));
    }
    const { answer } = read;
    if (answer.veto !== undefined) {
      const { attributes } = decision.decided;
      return [vetoed(asked, attributes, redact(answer.veto), clock.now())];
    }
    const misled = this.#misled(asked, answer);
    if (misled !== undefined) return this.#failed(asked, misled);
    return this.#readying.settled(mirror, document, found, { remark, answer });
  }

  /** The answer is for the file as it was hashed; another one has to settle again. */
  async #changed({ mirror, document, path, found }: Asked): Promise<Change[] | undefined> {
    const [now] = await mirror.reader.look(mirror.row.id, [path]);
    if (now?.stamp === found.seen.stamp) return undefined;
    const at = this.#context.clock.now();
    const { id } = document;
    // Gone, or not to be looked at: the settler finds out which.
    if (!now) {
      const why = "the file was gone after its hook was asked";
      return [{ type: "note", id, at, why, set: { dueAt: at } }];
    }
    const { settleMs } = mirror.settings;
    const event = { type: "changed", at, dueAt: at + settleMs, seen: now, settleMs } as const;
    return [{ type: "event", id, event, from: ["settling"] }];
  }

  /** Why the answer leads nowhere; undefined when it does not. */
  #misled({ mirror, path, found }: Asked, answer: HookAnswer): string | undefined {
    const at = this.#context.clock.now();
    const decision = decisionOn(mirror.settings, path, found, at, answer);
    const isMisled = "problem" in decision && decision.problem.code === "HOOK_FAILED";
    return isMisled ? decision.problem.message : undefined;
  }

  #failed(
    { mirror, hook, document, found, remark }: Asked,
    message: string,
  ): Promise<Change[]> | Change[] {
    if (hook.onFailure === "send") {
      const sent = `sent without it: ${message}`;
      return this.#readying.settled(mirror, document, found, { remark: remark ?? sent });
    }
    return [this.#readying.held(document, { code: "HOOK_FAILED", message }, HOLD)];
  }
}

function vetoed(
  { hook, document, found }: Asked,
  attributes: Attributes | null,
  message: string,
  at: number,
): Change {
  const after = hook.afterVeto.kind === "keep" ? null : "due";
  const problem = { code: "VETOED", message };
  const event = { type: "vetoed", at, digest: found.digest, attributes, problem, after } as const;
  return { type: "event", id: document.id, event, from: ["settling"] };
}
