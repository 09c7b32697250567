/**
 * In doubt: a document was sent and no reply came. Before anything is sent again, the archive's
 * folder is listed and this decides from what was found.
 *
 * The interface returns no checksum, so a candidate is known by: the name we sent, uploaded not
 * before we began, an id that no other row of the journal owns, and its size (0: the archive does
 * not know it yet). It never guesses: two that fit, or one whose size does not or is not known, are
 * left to time and, in the end, to a person.
 */
import type { Document } from "./document.ts";

/** What is known of an archived document that might be ours. */
export type Candidate = {
  readonly id: number;
  readonly filename: string;
  readonly uploadedDate: number;
  /** Bytes; 0 while the archive has not said. */
  readonly filesize: number;
  readonly status: string | null;
};

export type DoubtPolicy = {
  /** A document may appear this long after its reply was lost. */
  readonly windowMs: number;
  /** The first wait between two looks; it doubles. */
  readonly firstLookMs: number;
  /** How far the archive's clock and ours may differ after correction. */
  readonly toleranceMs: number;
};

export type Finding =
  | { readonly kind: "found"; readonly candidate: Candidate }
  | { readonly kind: "absent" }
  | { readonly kind: "lookAgain"; readonly waitMs: number }
  | { readonly kind: "ambiguous"; readonly candidates: readonly Candidate[] };

/**
 * Documents uploaded before this moment, by the archive's clock, cannot be ours.
 * `clockOffsetMs` is the archive's clock minus ours, 0 when unknown; it serves only where the intent
 * did not note the archive's time, since our clock may have been mended after the send.
 */
export function earliestUpload(
  document: Pick<Document, "sentAt" | "sentArchiveAt">,
  clockOffsetMs: number,
  policy: DoubtPolicy,
): number {
  const sentAt = document.sentArchiveAt ?? (document.sentAt ?? 0) + clockOffsetMs;
  return sentAt - policy.toleranceMs;
}

/** Decides what a look at the folder means. `listed` may hold the same document twice. */
export function reconcile(
  document: Pick<Document, "sentName" | "seen" | "doubtAt" | "looks">,
  listed: readonly Candidate[],
  context: { earliest: number; claimed: ReadonlySet<number>; now: number; policy: DoubtPolicy },
): Finding {
  const { earliest, claimed, now, policy } = context;
  const name = document.sentName?.normalize("NFC");
  const fitting = new Map<number, Candidate>();
  for (const candidate of listed) {
    const fits =
      candidate.filename.normalize("NFC") === name &&
      candidate.uploadedDate >= earliest &&
      !claimed.has(candidate.id);
    if (fits) fitting.set(candidate.id, candidate);
  }
  const candidates = [...fitting.values()];
  const exact = candidates.filter(({ filesize }) => filesize === document.seen.sizeBytes);
  const unsized = candidates.filter(({ filesize }) => filesize === 0);

  // Others of the same name and another, known size are not ours while one has just our size. One
  // without a size may be anybody's: to take it for ours could lose ours.
  const [match] = exact;
  if (match && exact.length === 1 && unsized.length === 0) {
    return { kind: "found", candidate: match };
  }

  // As many looks as the window has room for: a clock set forward must not hurry a re-send.
  const overdue =
    now - (document.doubtAt ?? now) >= policy.windowMs && document.looks >= looksMin(policy);
  if (!overdue) return { kind: "lookAgain", waitMs: nextLookMs(document.looks, policy) };
  return candidates.length === 0 ? { kind: "absent" } : { kind: "ambiguous", candidates };
}

/** Looks that fit into the window when the waits between them double; at least one before the last. */
function looksMin({ windowMs, firstLookMs }: DoubtPolicy): number {
  return Math.max(1, Math.floor(Math.log2(windowMs / firstLookMs)));
}

/** Waits double, so that a late commit is found soon and a slow one is not missed. */
function nextLookMs(looks: number, { firstLookMs, windowMs }: DoubtPolicy): number {
  return Math.min(firstLookMs * 2 ** Math.min(looks, 20), Math.max(windowMs / 2, 1));
}
