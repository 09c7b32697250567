/** Whether the bytes of a file that has settled were sent before, and what becomes of its row then. */
import { isOwn } from "../domain/division.ts";
import { type Document, SENT_STATES } from "../domain/document.ts";
import type { Change } from "../journal/journal.ts";
import type { Inspection } from "../source/source.ts";
import { joinRaw } from "../std/raw-path.ts";
import { GONE_ALREADY } from "./aftercare.ts";
import { againMs, behindMs } from "./behind.ts";
import type { LiveMirror, SyncContext } from "./context.ts";
import { ALL_DUTIES } from "./duties.ts";
import { listAnew } from "./list-anew.ts";
import { type Here, isHere, lookAtPlaces, mayBeHere } from "./former-places.ts";
import type { Followed } from "./recall.ts";

/** A file whose sent row is just being put away is looked at again this soon, and this late when that takes long. */
const RIVAL_MS = 1_000;
const LONG_MS = 60_000;

/** What becomes of a revision whose bytes are those of the one before it. */
const TOUCHED = "touched, not changed";

/** A file that was found whole. */
export type Whole = Extract<Inspection, { kind: "whole" }>;

/** What is asked about: a file that has settled, as it was found at `at` (epoch ms). */
type Settled = {
  readonly mirror: LiveMirror;
  readonly document: Document;
  readonly whole: Whole;
  readonly followed: Followed;
  readonly at: number;
};

/**
 * The bytes are in the archive already, or on their way: what becomes of the row, instead of sending
 * them. Undefined: they are to be sent.
 */
export async function alreadySent(
  context: SyncContext,
  mirror: LiveMirror,
  document: Document,
  whole: Whole,
  followed: Followed,
): Promise<Change[] | undefined> {
  const file: Settled = { mirror, document, whole, followed, at: context.clock.now() };
  const { supersedes } = document;
  const before = supersedes === null ? undefined : await context.journal.document(supersedes);
  return (before && byPlace(file, before)) ?? byContent(context, file);
}

/** What the revision before it says, which stood at the same path. */
function byPlace(file: Settled, before: Document): Change[] | undefined {
  const { mirror, document, whole, followed, at } = file;
  const { digest, seen } = whole;
  const { id } = document;
  if (followed.rows.has(before.id)) {
    return waits(file, "what stood here before is just found elsewhere", at);
  }
  if (before.digest === digest) {
    followed.rows.add(before.id);
    return [
      { type: "forget", id, at, why: TOUCHED, restore: true, from: ["settling"] },
      { type: "note", id: before.id, at, why: TOUCHED, set: again(before, mirror, seen) },
    ];
  }
  // A name that was free again and is used for something new is not an edit: it is always sent.
  // Neither is one whose predecessor turned out not to have been sent: that was torn down with it.
  if (!isSent(before) || mirror.settings.changed !== "ignore") return undefined;
  // What is in doubt is known by its size, which the row must keep until then.
  if (before.state === "uploading" || before.doubtAt !== null) {
    const why = "waits until it is certain what became of the content before it";
    return waits(file, why, at + Math.max(mirror.settings.settleMs, behindMs(before, at)));
  }
  const remark = "its content has changed since; by `changed: ignore` that is not sent";
  return [
    { type: "forget", id, at, why: remark, restore: true, from: ["settling"] },
    { type: "note", id: before.id, at, why: remark, set: { seen, remark } },
  ];
}

/** What another file of the mirror says that had this content, and is not where it was. */
async function byContent(context: SyncContext, file: Settled): Promise<Change[] | undefined> {
  const { mirror, document, whole, followed, at } = file;
  const here = {
    path: joinRaw(document.dir, document.name),
    seen: whole.seen,
    digest: whole.digest,
  };
  const original = await movedFrom(context, mirror, document, here, followed);
  if (!original) return undefined;
  if (original === "in hand") {
    const why = "waits until it is certain what became of a file of the same content";
    // A minute in hand is long; from then on it may be hours.
    return waits(file, why, at + againMs(at - document.changedAt - LONG_MS, RIVAL_MS, LONG_MS));
  }
  followed.rows.add(original.id);
  const { id, dir, mirrorId } = original;
  const left = listAnew(mirrorId, dir);
  const place = { dir };
  const follow = { type: "follow", id, successor: document.id, at, place } as const;
  if (!wasNotThere(original) || mirror.settings.after.kind === "keep") return [left, follow];
  const why = "moved before it was put away";
  const set = { after: "due", afterMessage: null } as const;
  return [left, follow, { type: "note", id, at, why, set }];
}

/** Nothing becomes of the row but another look, at `dueAt`. */
function waits({ document, at }: Settled, why: string, dueAt: number): Change[] {
  return [{ type: "note", id: document.id, at, why, set: { dueAt } }];
}

/** The archive has, or may have, what stood at this path, and the file is still there. */
function isSent({ state, documentId, doubtAt, goneAt }: Document): boolean {
  if (goneAt !== null) return false;
  return documentId !== null || doubtAt !== null || SENT_STATES.includes(state);
}

/** It was to be put away after it had left, where there was nothing any more, or another file. */
function wasNotThere({ current, after, afterMessage }: Document): boolean {
  return afterMessage === GONE_ALREADY || (!current && after === "refused");
}

/** A file that came back after its after-action is put away once more. */
function again(before: Document, mirror: LiveMirror, seen: Document["seen"]) {
  const again = before.state === "converted" && mirror.settings.after.kind !== "keep";
  return { seen, goneAt: null, ...(again ? { after: "due" as const } : {}) };
}

/**
 * A sent row with these bytes whose file is not where it was: this is that file. `in hand`: one is
 * just being put away, and may be back in a moment.
 */
async function movedFrom(
  context: SyncContext,
  mirror: LiveMirror,
  document: Document,
  here: Here & Pick<Whole, "digest">,
  followed: Followed,
): Promise<Document | "in hand" | undefined> {
  const { id } = mirror.row;
  const sent = await context.journal.sentWith(id, here.digest, here.seen.sizeBytes);
  const others = mayBeHere(sent, mirror, here).filter(
    (other) => other.id !== document.supersedes && !followed.rows.has(other.id),
  );
  if (others.length === 0) return undefined;
  const paths = others.map((other) => joinRaw(other.dir, other.name));
  const look = () => lookAtPlaces(mirror, paths, here.path);
  const [looks, wasInHand] = await followed.puttingAway.during(look);
  const isFound = others.map((other, index) => isHere(other, looks[index], here));
  if (paths.some((path, index) => isFound[index] && wasInHand(id, path))) return "in hand";
  const original = others.find((_, index) => isFound[index]);
  return original && (await isUnsure(context, original)) ? "in hand" : original;
}

/**
 * A file of another daemon's part may be in that one's hand, which only the journal tells: before it is
 * touched its after-action is due, and what became of it is journaled afterwards. Asked after the look.
 */
async function isUnsure(
  { journal, duties = ALL_DUTIES }: SyncContext,
  { id, mirrorId, dir, current, after }: Document,
): Promise<boolean> {
  if (isOwn(duties.division(mirrorId), dir)) return false;
  const now = await journal.document(id);
  return now?.current !== current || now.dir !== dir || now.after !== after || after === "due";
}
