import { messageOf } from "../std/fault.ts";
import { Loop, type LoopParts } from "./loop.ts";
import type { NoticeRow } from "./notice-table.ts";
import type { Store } from "./store.ts";

/** `notifyUrl`: where expiries are reported; undefined: they are only logged. */
type DeliveryParts = LoopParts & { store: Store; notifyUrl: string | undefined };

/** Between deliveries of one notice: doubled with each failure, up to the second. Guesses. */
const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 3_600_000;
/** How long the other side may take to answer. */
const ANSWER_MS_MAX = 10_000;
/** Expiries noticed in one transaction. */
const NOTICED_MAX = 500;

/**
 * Notices when the expiry date of a document or a folder passes: logs it, and tells it to
 * `notifyUrl` with a POST of JSON until that answers with a 2xx.
 *
 * Each expiry is noticed once, and a date that is set again again. A notice outlives restarts until
 * it is delivered. It is delivered once, unless the archive ends between the answer and writing
 * that down; `notice` in the body is the same then, so that the receiver can tell.
 */
export class Expiry extends Loop<DeliveryParts & { delivery: Delivery }> {
  protected readonly retryMs = RETRY_MS_MIN;

  protected async step(): Promise<number> {
    const { store, clock, log, notifyUrl, delivery } = this.parts;
    const now = clock.now();
    const next = store.notices.nextExpiry();
    if (next === undefined) return Infinity;
    if (next > now) return next - now;
    const tells = notifyUrl !== undefined;
    const noticed = store.inOneTransaction(() => store.notices.notice(now, tells, NOTICED_MAX));
    for (const row of noticed) log(bodyOf(row));
    delivery.poke();
    return 0;
  }
}

/** Delivers what was noticed, one notice after another. A loop of its own: a slow receiver must not delay the log. */
export class Delivery extends Loop<DeliveryParts> {
  protected readonly retryMs = RETRY_MS_MIN;

  protected async step(): Promise<number> {
    const { store, clock, log, notifyUrl } = this.parts;
    const next = store.notices.nextDue();
    // Without an address what is still to be delivered waits for a run that has one.
    if (!next || notifyUrl === undefined) return Infinity;
    const waitMs = next.due_at - clock.now();
    // No failure puts it off for longer: the clock was set back since.
    if (waitMs > 0 && waitMs <= RETRY_MS_MAX) return waitMs;
    try {
      await this.#post(notifyUrl, bodyOf(next));
      store.notices.delivered(next.id, clock.now());
    } catch (error) {
      if (this.parts.closing.aborted) return 0;
      const backoffMs = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** Math.min(next.attempts, 30));
      store.notices.postpone(next.id, clock.now() + backoffMs);
      log({ event: "not notified", notice: next.id, why: messageOf(error) });
    }
    return 0;
  }

  async #post(url: string, body: Record<string, unknown>): Promise<void> {
    const signal = AbortSignal.any([this.parts.closing, AbortSignal.timeout(ANSWER_MS_MAX)]);
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body), signal } as const;
    const response = await fetch(url, { ...init, redirect: "manual" });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`answered with ${response.status}`);
  }
}

/** What the receiver gets. */
function bodyOf(row: NoticeRow): Record<string, unknown> {
  const { id, kind, subject_id, name, folder_id, expire_at, noticed_at, key } = row;
  return {
    event: kind === "document" ? "documentExpired" : "folderExpired",
    notice: id,
    account: key,
    ...(kind === "document" ? { documentId: subject_id, filename: name } : { folderName: name }),
    folderId: folder_id,
    expireDate: expire_at,
    noticedAt: noticed_at,
  };
}
