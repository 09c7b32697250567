import type { Document } from "./document.ts";

/**
 * The page allowance of an archive account, estimated here: what is used of a month, what is left and
 * for whom, and when it runs out. The archive keeps an account of its own and has the last word
 * (QUOTA_LIMIT); this one is there to be warned by, and to choose what is sent while there is little.
 *
 * A document takes the pages that were counted here until the archive has counted them; what was
 * sent and may have been stored counts as used.
 */

/** What is done about pages; pages are counts of A4 pages. */
export type PagePolicy = {
  /** Pages of a month; undefined: no allowance is known, and nothing is limited. */
  readonly monthlyPages?: number | undefined;
  /** The day on which the account's month begins, 1 to 28. */
  readonly monthBegins: number;
  /** `hold`: once it is used up, the rest waits for the next month. `warn`: the archive decides. */
  readonly whenUsedUp: "warn" | "hold";
  /** Pages that only the mirrors of these names may use. */
  readonly reserve?: Reserve | undefined;
};

/** Mirrors are given by their names. */
export type Reserve = { readonly pages: number; readonly mirrors: readonly string[] };

/** Pages that are used: by the mirrors of the reserve, and by the others. */
export type Used = { readonly named: number; readonly others: number };

/** Warnings, by how much is used: none, from 80 %, from 100 %. */
export const LEVELS = ["ok", "low", "usedUp"] as const;

/** Kept in the journal by its place in `LEVELS` (`WarnedRow`), whose order stays so. */
export type Level = (typeof LEVELS)[number];

const LOW_AT = 0.8;

/** Pages that a document is estimated to cost; one, where they cannot be counted here. */
export function chargeOf({ estimate }: Document): number {
  return estimate ?? 1;
}

/** How far the allowance is used, with `more` of it (0.05: a twentieth); `ok` without one. */
export function levelOf({ monthlyPages }: PagePolicy, { named, others }: Used, more = 0): Level {
  if (monthlyPages === undefined) return "ok";
  const used = (named + others) / monthlyPages + more;
  if (used >= 1) return "usedUp";
  return used >= LOW_AT ? "low" : "ok";
}

/**
 * Pages left of the allowance, for a mirror of the reserve (`isNamed`) or for any other; less than
 * none when it is overdrawn, and for ever without an allowance. The others leave the reserve alone,
 * and the named ones use that before they use what is everyone's.
 */
export function leftFor(
  { monthlyPages, reserve }: PagePolicy,
  { named, others }: Used,
  isNamed: boolean,
): number {
  if (monthlyPages === undefined) return Number.POSITIVE_INFINITY;
  const kept = isNamed ? named : Math.max(reserve?.pages ?? 0, named);
  return monthlyPages - others - kept;
}

/**
 * Pages that such a mirror may still send. A reserve is kept whatever happens at 100 %; beyond
 * that, `warn` leaves it to the archive.
 */
export function mayUse(policy: PagePolicy, used: Used, isNamed: boolean): number {
  const isKept = policy.whenUsedUp === "hold" || (policy.reserve !== undefined && !isNamed);
  return isKept ? Math.max(0, leftFor(policy, used, isNamed)) : Number.POSITIVE_INFINITY;
}

/**
 * When the allowance is used up at this rate, epoch milliseconds; null when it lasts until `to`,
 * when it is renewed. `perDay` is in pages.
 */
export function runsOutAt(left: number, perDay: number, now: number, to: number): number | null {
  if (left <= 0) return now;
  const at = now + (left / perDay) * 86_400_000;
  return at < to ? at : null;
}

/** The shares of all mirrors of an account, and what is taken of them meanwhile. */
export class Shares {
  readonly #policy: PagePolicy;
  readonly #named: ReadonlySet<number>;
  #used: Used;

  /** `named`: ids of the mirrors of the reserve. */
  constructor(policy: PagePolicy, named: ReadonlySet<number>, used: Used) {
    this.#policy = policy;
    this.#named = named;
    this.#used = used;
  }

  /** Pages that the mirror may send as of this call; may be endless. */
  of(mirrorId: number): number {
    return mayUse(this.#policy, this.#used, this.#named.has(mirrorId));
  }

  /** Takes a document's pages, if its mirror's share has them; false if not. */
  take(document: Document): boolean {
    const { mirrorId } = document;
    const pages = chargeOf(document);
    if (pages > this.of(mirrorId)) return false;
    const { named, others } = this.#used;
    this.#used = this.#named.has(mirrorId)
      ? { named: named + pages, others }
      : { named, others: others + pages };
    return true;
  }
}

/** How far the bucket may fall behind its rate and still make up for it. */
export const BURST_MS = 500;

/**
 * A bucket of bytes that fills at a steady rate. It is kept as one moment: when everything that was
 * taken so far will have flowed out. Anyone who takes waits until then, so those who ask are served in
 * the order they asked, without a queue. What was not taken is lost but for `BURST_MS`: enough to
 * make up for a busy event loop, too little for a burst.
 */
export class Bucket {
  readonly #bytesPerSecond: number;
  /** When the last byte taken so far will have flowed out; by the clock of `reserve`. */
  #flownAt = Number.NEGATIVE_INFINITY;

  constructor(bytesPerSecond: number) {
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** Takes `bytes` at `now` (a clock that only grows); returns how many ms to wait before using them. */
  reserve(bytes: number, now: number): number {
    const from = Math.max(this.#flownAt, now - BURST_MS);
    this.#flownAt = from + (bytes / this.#bytesPerSecond) * 1_000;
    return Math.max(0, from - now);
  }
}
