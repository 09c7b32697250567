/**
 * Tells `after` hooks what became of documents: at least once, from what the journal keeps, after
 * the after-action, which never waits for it. A hook that fails is called again a few times; what it
 * says changes nothing about the document.
 */
import type { Hook } from "../config/mirror-section.ts";
import type { Document } from "../domain/document.ts";
import type { Documents, Outbox } from "../journal/journal.ts";
import { backoffMs, lastingMs } from "../domain/backoff.ts";
import type { OutboxEntry } from "../journal/outbox-entry.ts";
import { ChannelClosed } from "../reader/rpc-channel.ts";
import { Wakeup } from "../std/wakeup.ts";
import { joinRaw, shown } from "../std/raw-path.ts";
import type { LiveMirror, SyncContext } from "./context.ts";
import { newsOf } from "./hook-input.ts";
import { loop } from "./loop.ts";
import { BEHIND_ACTION, READER_DOWN_MS, REFUSED } from "./waits.ts";

/** How often it is tried: for an hour and a half. */
export const TRIES_MAX = 10;

/** A mirror with an `after` hook. */
type Listener = { readonly mirror: LiveMirror; readonly hook: Hook; readonly wakeup: Wakeup };

/** Whether it may still be moved or deleted: its hook gets the place where it is then. */
function waitsForAction(document: Document | undefined): boolean {
  return document?.after === "due" && document.afterMessage === null;
}

/** What is not tried yet is due first: among so many it is found. */
const LOOKED_AT_MAX = 100;

/** Whether a hook is to be called by then; a later run calls one that failed, or waits for a later after-action. */
export async function isAnyToTell(
  journal: Documents & Outbox,
  mirrorId: number,
  until: number,
): Promise<boolean> {
  const entries = await journal.outboxEntries(mirrorId, Number.MAX_SAFE_INTEGER, LOOKED_AT_MAX);
  for (const { tries, document } of entries) {
    const row = await journal.document(document.id);
    const isLater = waitsForAction(row) && (row?.dueAt ?? 0) > until;
    if (tries === 0 && !isLater) return true;
  }
  return false;
}

export class AfterHooks {
  readonly #context: SyncContext<Documents & Outbox>;
  readonly #listeners: readonly Listener[];

  constructor(context: SyncContext<Documents & Outbox>) {
    this.#context = context;
    this.#listeners = [...context.mirrors.values()].flatMap((mirror) => {
      const hook = mirror.settings.hooks?.after;
      return hook ? [{ mirror, hook, wakeup: new Wakeup() }] : [];
    });
  }

  /** There may be something to tell. */
  notify(): void {
    for (const { wakeup } of this.#listeners) wakeup.notify();
  }

  /** A loop for each of these mirrors that has an `after` hook: a slow hook delays no other mirror's. */
  async run(stopping: AbortSignal, { mirrors } = this.#context): Promise<void> {
    const own = this.#listeners.filter(({ mirror }) => mirrors.has(mirror.row.id));
    await Promise.all(
      own.map(({ mirror, hook, wakeup }) =>
        loop(wakeup, this.#context, stopping, () => this.#step(mirror, hook)),
      ),
    );
  }

  async #step(mirror: LiveMirror, hook: Hook): Promise<number> {
    const { journal, clock } = this.#context;
    const { id } = mirror.row;
    const due = await journal.outboxEntries(id, clock.now(), hook.concurrency);
    try {
      await Promise.all(due.map((outboxEntry) => this.#tell(mirror, hook, outboxEntry)));
    } catch (error) {
      if (!(error instanceof ChannelClosed)) throw error;
      return READER_DOWN_MS;
    }
    if (due.length > 0) return 0;
    const [next] = await journal.outboxEntries(id, Number.MAX_SAFE_INTEGER, 1);
    return next ? Math.max(0, next.dueAt - clock.now()) : Number.POSITIVE_INFINITY;
  }

  /** Rejects with `ChannelClosed` when the reader is gone; then it was no try. */
  async #tell(mirror: LiveMirror, hook: Hook, outboxEntry: OutboxEntry): Promise<void> {
    const { journal, clock, random } = this.#context;
    const { number, tries: failures } = outboxEntry;
    const document = await journal.document(outboxEntry.document.id);
    // What cannot be moved or deleted just now stays where it is, perhaps for days.
    if (waitsForAction(document)) {
      const now = clock.now();
      const waitMs = lastingMs(BEHIND_ACTION, now - outboxEntry.at);
      return journal.putOffOutboxEntry(number, failures, now + waitMs);
    }
    const ended = await mirror.reader.hook({
      command: hook.command,
      timeoutMs: hook.timeoutMs,
      input: newsOf(mirror, outboxEntry, document),
      outputBytesMax: null,
    });
    if (!("failure" in ended)) return journal.endOutboxEntry(number);
    const tries = failures + 1;
    if (tries >= TRIES_MAX) return this.#giveUp(mirror, outboxEntry, ended.failure);
    const dueAt = clock.now() + backoffMs(REFUSED, tries, random);
    this.#context.log.warn(this.#about(mirror, outboxEntry), `after hook failed: ${ended.failure}`);
    return journal.putOffOutboxEntry(number, tries, dueAt);
  }

  /** The hook is not called any more; the log and `explain` say so. */
  async #giveUp(mirror: LiveMirror, outboxEntry: OutboxEntry, failure: string): Promise<void> {
    const { journal, clock, log, redact } = this.#context;
    const why = redact(`the after hook did not get the outcome ${outboxEntry.outcome}: ${failure}`);
    log.error(this.#about(mirror, outboxEntry), `${why}. Given up after ${TRIES_MAX} tries`);
    const { id } = outboxEntry.document;
    await journal.apply([{ type: "note", id, at: clock.now(), why, set: {} }]);
    await journal.endOutboxEntry(outboxEntry.number);
  }

  #about({ row }: LiveMirror, { document, outcome, tries }: OutboxEntry): object {
    const path = shown(joinRaw(document.dir, document.name));
    return { mirror: row.name, path, outcome, tries: tries + 1, code: "AFTER_HOOK_FAILED" };
  }
}
