import { isOtherDate } from "./another-document.ts";
import type { Document, Seen } from "./document.ts";
import type { StoredSize } from "./stored-size.ts";
import type { RawPath } from "../std/raw-path.ts";
import { isSameStamp } from "./stamp.ts";

/**
 * In doubt: a document was sent and no reply came. Before anything is sent again, the archive's
 * folder is listed and this decides from what was found.
 *
 * The interface returns no checksum, so a candidate is known by: the name we sent, uploaded not
 * before we began, an id that no other row of the journal owns, and its size (0: the archive does
 * not know it yet). It never guesses: two that fit, one whose size does not or is not known, or one
 * that only clocks that differ could make ours, are left to time and, in the end, to a person.
 */

/** What is known of an archived document that might be ours. */
export type Candidate = {
  readonly id: number;
  readonly folderId: number;
  readonly filename: string;
  readonly uploadedDate: number;
  /** Bytes; 0 while the archive has not said. */
  readonly filesize: number;
  readonly status: string | null;
};

/** Whether a document may be of so many bytes, as far as the archive says. */
export function mayBeBytes(
  { filesize }: Pick<Candidate, "filesize">,
  sizeBytes: number,
  storedSize: StoredSize = "same",
): boolean {
  return filesize === 0 || filesize === sizeBytes || storedSize === "any";
}

/** How long a doubt is looked into, and what clocks are allowed. */
export type DoubtPolicy = {
  /** A document may appear this long after its reply was lost. */
  readonly windowMs: number;
  /** The first wait between two looks; it doubles. */
  readonly firstLookMs: number;
  /** How far the archive's clock and ours may differ after correction. */
  readonly toleranceMs: number;
  /** The part of it that only an unknown clock needs: what is older than without it may have been there before. */
  readonly unsureMs: number;
  /**
   * How far the archive's clocks may differ beyond that: the one that dates its replies may be a
   * proxy's. A document of our name and size that is older by as much is not taken for ours, but
   * nothing is sent next to it either.
   */
  readonly marginMs: number;
  /** See `Likeness`. */
  readonly keepsDates: boolean;
};

/** What one look at the archive says of a doubt; only `absent` lets it be sent again. */
export type Evidence =
  | { readonly kind: "found"; readonly candidate: Candidate }
  | { readonly kind: "absent" }
  | { readonly kind: "lookAgain"; readonly waitMs: number }
  | { readonly kind: "ambiguous"; readonly candidates: readonly Candidate[] };

/**
 * Documents uploaded before this moment, by the archive's clock, are not taken for ours.
 * `offsetMs` is the archive's clock minus ours, 0 when unknown; it serves only where the intent did
 * not note the archive's time, since our clock may have been fixed after the send. Where that is
 * certain, as the send lies ahead of `now`, any document may be ours.
 */
export function earliestUpload(
  { sentAt, sentArchiveAt }: Pick<Document, "sentAt" | "sentArchiveAt">,
  clock: { readonly now: number; readonly offsetMs: number },
  policy: DoubtPolicy,
): number {
  if (sentArchiveAt !== null) return sentArchiveAt - policy.toleranceMs;
  const ours = sentAt ?? 0;
  return ours > clock.now ? 0 : ours + clock.offsetMs - policy.toleranceMs;
}

/** How long it has been in doubt for certain, by one look after another. Monotonic milliseconds. */
export type DoubtSpan = { readonly metAt: number; readonly since: number };

/**
 * The span as one more look has it; `known` is that of the look before in this run, if there was
 * one. A clock that is set makes no doubt older: the latest beginning counts that any look found by
 * the clock. Nor, set back, does it keep a doubt young: it began before it was met.
 */
export function doubtSpan(
  doubtAt: number | null,
  at: { readonly now: number; readonly monotonic: number },
  known?: DoubtSpan,
): DoubtSpan {
  const { metAt, since } = known ?? { metAt: at.monotonic, since: Number.NEGATIVE_INFINITY };
  const seemingly = doubtAt === null ? metAt : at.monotonic - (at.now - doubtAt);
  return { metAt, since: Math.min(metAt, Math.max(since, seemingly)) };
}

/** What is looked for. Where the archive has said once when it was uploaded (`mistaken`), it goes by that, too. */
type Sought = Pick<
  Document,
  "sentName" | "seen" | "looks" | "archiveUploadedAt" | "sentAt" | "uploadedAt"
>;

/** What limits the documents that may be ours. */
type Search = {
  readonly earliest: number;
  readonly claimed: Pick<ReadonlySet<number>, "has">;
  readonly policy: DoubtPolicy;
};

/**
 * Decides what a look at the folder means. `listed` may hold the same document twice; `lastedMs` is
 * how long the document has been in doubt for certain.
 */
export function reconcile(
  document: Sought,
  listed: readonly Candidate[],
  context: Search & { readonly lastedMs: number },
): Evidence {
  const { lastedMs, policy } = context;
  const isExact = ({ filesize }: Candidate) => filesize === document.seen.sizeBytes;
  const isUnsized = ({ filesize }: Candidate) => filesize === 0;
  const { candidates, older, renamed } = fitting(document, listed, context);
  const exact = candidates.filter(isExact);
  const unsized = candidates.filter(isUnsized);

  // Others of the same name and another, known size are not ours while one has just our size. One
  // without a size may be anyone's: to take it for ours could lose ours.
  const sureFrom = context.earliest + policy.unsureMs;
  const [match, another] = exact.filter(({ uploadedDate }) => uploadedDate >= sureFrom);
  if (match && !another && unsized.length === 0) return { kind: "found", candidate: match };

  // As many looks as the window has room for: a clock set forward must not hurry a re-send.
  const overdue = lastedMs >= policy.windowMs && document.looks >= looksMin(policy);
  if (!overdue) return { kind: "lookAgain", waitMs: nextLookMs(document.looks, policy) };
  // Of another date than the archive first said, and another size, it is not ours where dates are kept.
  const isRecent = ({ uploadedDate }: Candidate) => uploadedDate >= context.earliest;
  const mayBe = (each: Candidate) =>
    isExact(each) || isUnsized(each) || (isRecent(each) && !policy.keepsDates);
  const doubtful = [...candidates, ...older.filter(mayBe), ...renamed.filter(isExact)];
  return doubtful.length === 0 ? { kind: "absent" } : { kind: "ambiguous", candidates: doubtful };
}

/** The same for names that an archive may have made of one: in another case, without blanks or punctuation. */
export function nameKey(name: string | null): string {
  const whole = name ?? "";
  const folded = whole.normalize("NFKC").toLowerCase();
  return folded.replaceAll(/[^\p{L}\p{N}]/gu, "") || whole;
}

/**
 * Those of our name that nobody owns, each once; apart, those that only a wrong date could make ours, and those that
 * would be ours if the archive had changed the name.
 */
function fitting(
  document: Sought,
  listed: readonly Candidate[],
  { earliest, claimed, policy }: Search,
): { candidates: Candidate[]; older: Candidate[]; renamed: Candidate[] } {
  const name = document.sentName?.normalize("NFC");
  const key = nameKey(document.sentName);
  const fits = ({ id, filename, uploadedDate }: Candidate) =>
    nameKey(filename) === key && uploadedDate >= earliest - policy.marginMs && !claimed.has(id);
  const once = new Map(listed.filter(fits).map((candidate) => [candidate.id, candidate]));
  const isOlder = ({ uploadedDate }: Candidate) =>
    uploadedDate < earliest || isOtherDate(document, uploadedDate, policy.toleranceMs);
  const isNamed = ({ filename }: Candidate) => filename.normalize("NFC") === name;
  const named = [...once.values()].filter(isNamed);
  return {
    candidates: named.filter((each) => !isOlder(each)),
    older: named.filter(isOlder),
    renamed: [...once.values()].filter((each) => !isNamed(each) && !isOlder(each)),
  };
}

/** Looks that fit into the window when the waits between them double; at least one before the last. */
function looksMin({ windowMs, firstLookMs }: DoubtPolicy): number {
  return Math.max(1, Math.floor(Math.log2(windowMs / firstLookMs)));
}

/** Waits double, so that a late commit is found soon and a slow one is not missed. */
function nextLookMs(looks: number, { firstLookMs, windowMs }: DoubtPolicy): number {
  return Math.min(firstLookMs * 2 ** Math.min(looks, 20), Math.max(windowMs / 2, 1));
}

/** What is journaled of a file, as far as a comparison needs it. */
type FileRow = {
  readonly name: RawPath;
  readonly stamp: string;
  readonly goneAt: number | null;
};

/** What is different between the journal's rows of a directory and its listing. */
export type ListingDifference<R extends FileRow> = {
  readonly appeared: readonly { readonly name: RawPath; readonly seen: Seen }[];
  /** Same name, another stamp. */
  readonly changed: readonly { readonly row: R; readonly seen: Seen }[];
  /** Was gone, and is back as it was. */
  readonly returned: readonly R[];
  readonly vanished: readonly R[];
};

/** Compares a directory's rows with all of its files. Pure; order does not matter. */
export function compare<R extends FileRow>(
  rows: readonly R[],
  files: readonly { readonly name: RawPath; readonly seen: Seen }[],
): ListingDifference<R> {
  const left = new Map(rows.map((row) => [row.name, row]));
  const appeared = [];
  const changed = [];
  const returned = [];
  for (const file of files) {
    const row = left.get(file.name);
    left.delete(file.name);
    if (!row) appeared.push(file);
    else if (!isSameStamp(row.stamp, file.seen.stamp)) changed.push({ row, seen: file.seen });
    else if (row.goneAt !== null) returned.push(row);
  }
  const vanished = [...left.values()].filter((row) => row.goneAt === null);
  return { appeared, changed, returned, vanished };
}
