/**
 * Asks whether the archive is the one that documents were sent to, before anything is sent, asked or moved or deleted:
 * at the start, with each configuration, and daily. It takes two requests where nothing has changed.
 */
import type { ArchiveState, Registry } from "../journal/journal.ts";
import type { Archive } from "../archive/archive.ts";
import { ArchiveError } from "../archive/archive-error.ts";
import { isMoved, isSameIdentity } from "../domain/archive-identity.ts";
import type { Problem } from "../domain/document.ts";
import { Wakeup } from "../std/wakeup.ts";
import type { SyncContext } from "./context.ts";
import { type Asking, type Examined, examine, keyOf, remember } from "./examine-archive.ts";
import type { AccountGate } from "./account-gate.ts";
import { loop } from "./loop.ts";
import { AGAIN_MS } from "./waits.ts";
import { wrappedArchive } from "./wrapped-archive.ts";

/** The archive is another one. */
export const ARCHIVE_CHANGED = "ARCHIVE_CHANGED";

const DAY_MS = 24 * 3_600_000;

/** One that is another is asked again after this long: it may be a backup that is being put right. */
const CHANGED_MS = 60_000;

/** `asks`: it does so at once; `replaced`: called when a person has said that it is another archive. */
type Guarding = Pick<SyncContext<ArchiveState & Registry>, "clock" | "log"> & {
  readonly asks: boolean;
  readonly replaced: () => void;
};

/** What is known now: nothing yet, nothing as it was not asked or in vain, that it is the same, or the problem that it is another. */
export type IdentityState = "unknown" | "failed" | "same" | Problem;

export class IdentityGuard {
  readonly #asking: Asking;
  readonly #context: Guarding;
  /** The key-value entry as it was last read or written. */
  #keyValue: string | null | undefined;
  #standing: IdentityState;
  #askedAt = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #asks: Promise<void> | undefined;

  constructor(asking: Asking, context: Guarding) {
    this.#asking = asking;
    this.#context = context;
    this.#standing = context.asks ? "unknown" : "failed";
  }

  get standing(): IdentityState {
    return this.#standing;
  }

  /** A person may have said which archive it is. */
  async reread(): Promise<void> {
    const { journal, account } = this.#asking;
    const row = (await journal.archives()).find(({ id }) => id === journal.archiveId);
    if (row && row.name !== account.name) this.#context.replaced();
    const keyValue = await journal.keyValue(keyOf(journal.archiveId));
    if (keyValue !== this.#keyValue) this.#askedAt = Number.NEGATIVE_INFINITY;
  }

  /**
   * Resolves where the archive is the one that earlier documents were sent to. Rejects with `ArchiveError`: ARCHIVE_CHANGED, or
   * why it cannot be asked.
   */
  async assert(signal: AbortSignal): Promise<void> {
    if (this.restMs <= 0) {
      this.#asks ??= this.#ask(signal).finally(() => {
        this.#asks = undefined;
      });
      await this.#asks;
    }
    const standing = this.#standing;
    if (typeof standing === "object")
      throw new ArchiveError("notSent", standing.code, standing.message);
  }

  /** How long what is known holds, ms. */
  get restMs(): number {
    const lasts = this.#standing === "same" ? DAY_MS : CHANGED_MS;
    const isKnown = this.#standing === "same" || typeof this.#standing === "object";
    return isKnown ? this.#askedAt + lasts - this.#context.clock.monotonic() : 0;
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { journal, account } = this.#asking;
    const { clock, log } = this.#context;
    const askedAt = clock.monotonic();
    let examined: Examined;
    try {
      examined = await examine(this.#asking, this.#failures, signal);
    } catch (error) {
      if (this.#standing === "unknown") this.#standing = "failed";
      if (error instanceof ArchiveError && error.kind === "inDoubt") this.#failures += 1;
      throw error;
    }
    const { now, known, keyValue, other } = examined;
    this.#keyValue = keyValue;
    this.#askedAt = askedAt;
    this.#failures = 0;
    this.#standing = other === undefined ? "same" : { code: ARCHIVE_CHANGED, message: other };
    if (other !== undefined || isSameIdentity(known, now)) return;
    const isElsewhere = known !== null && isMoved(known, now);
    if (isElsewhere)
      log.info(
        { url: account.url },
        "the address or account key has changed; it is the same archive",
      );
    this.#keyValue = await remember(journal, now, known?.isConfirmed === true && !isElsewhere);
  }
}

/** Asks at the start, daily, and soon where it is another; closes the gate then. */
export function identify(
  context: SyncContext<ArchiveState & Registry>,
  keeper: AccountGate,
  signal: AbortSignal,
): Promise<never>[] {
  const { identity } = context;
  if (!identity) return [];
  const step = async () => {
    try {
      await identity.assert(signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ArchiveError)) throw error;
      const { code, message } = error;
      if (code !== ARCHIVE_CHANGED) return AGAIN_MS;
      await keeper.refused({ code, message }, false);
    }
    return Math.max(AGAIN_MS, identity.restMs);
  };
  return [loop(new Wakeup(), context, signal, step)];
}

/** The same archive, of which nothing is asked before it is known to be the one that documents were sent to. */
export function assured(archive: Archive, guard: Pick<IdentityGuard, "assert">): Archive {
  return wrappedArchive(archive, async (ask, signal) => {
    await guard.assert(signal);
    return ask();
  });
}
