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
import { forgotten } from "./forgotten.ts";
import { lookAtPlaces, mayBeHere } from "./former-places.ts";
import type { Followed } from "./recall.ts";

/** A file whose sent row is just being put away is looked at again this soon, and this late when that takes long. */
const RIVAL_MS = 1_000;
const LONG_MS = 60_000;

/** What becomes of a revision whose bytes are those of the one before it. */
const TOUCHED = "touched, not changed";

/** A file that was found whole. */
export type Whole = Extract<Inspection, { kind: "whole" }>;

/** The bytes are in the archive already, or on their way: nothing is sent. */
export async function alreadySent(
  context: SyncContext,
  mirror: LiveMirror,
  document: Document,
  found: Whole,
  followed: Followed,
): Promise<Change[] | undefined> {
  const { journal, clock } = context;
  const { digest, seen } = found;
  const at = clock.now();
  const { id } = document;
  const before =
    document.supersedes === null ? undefined : await journal.document(document.supersedes);
  if (before && before.digest === digest) {
    return [
      { type: "forget", id, at, why: TOUCHED, restore: true, from: ["settling"] },
      {
        type: "note",
        id: before.id,
        at,
        why: TOUCHED,
        set: again(before, mirror, seen),
      },
    ];
  }
  // A name that was free again and is used for something new is not an edit: it is always sent.
  // Neither is one whose predecessor turned out not to have been sent: that was torn down with it.
  if (before && isSent(before) && mirror.settings.changed === "ignore") {
    // What is in doubt is known by its size, which the row must keep until then.
    if (before.state === "uploading" || before.doubtAt !== null) {
      const why = "waits until it is certain what became of the content before it";
      const dueAt = at + Math.max(mirror.settings.settleMs, behindMs(before, at));
      return [{ type: "note", id, at, why, set: { dueAt } }];
    }
    const remark = "its content has changed since; by `changed: ignore` that is not sent";
    return [
      { type: "forget", id, at, why: remark, restore: true, from: ["settling"] },
      { type: "note", id: before.id, at, why: remark, set: { seen, remark } },
    ];
  }
  const original = await movedFrom(context, mirror, document, found, followed);
  if (!original) return undefined;
  if (original === "in hand") {
    const why = "waits until it is certain what became of a file of the same content";
    // A minute in hand is long; from then on it may be hours.
    const dueAt = at + againMs(at - document.changedAt - LONG_MS, RIVAL_MS, LONG_MS);
    return [{ type: "note", id, at, why, set: { dueAt } }];
  }
  followed.rows.add(original.id);
  const { dir, mirrorId } = original;
  const left = forgotten(mirrorId, dir);
  const place = { dir };
  const follow = { type: "follow", id: original.id, successor: id, at, place } as const;
  if (original.afterMessage !== GONE_ALREADY || mirror.settings.after.kind === "keep")
    return [left, follow];
  const why = "moved before it was put away";
  const set = { after: "due", afterMessage: null } as const;
  return [left, follow, { type: "note", id: original.id, at, why, set }];
}

/** The archive has, or may have, what stood at this path, and the file is still there. */
function isSent({ state, documentId, doubtAt, goneAt }: Document): boolean {
  if (goneAt !== null) return false;
  return documentId !== null || doubtAt !== null || SENT_STATES.includes(state);
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
  { digest, seen }: Whole,
  followed: Followed,
): Promise<Document | "in hand" | undefined> {
  const { id } = mirror.row;
  const here = joinRaw(document.dir, document.name);
  const sent = await context.journal.sentWith(id, digest, seen.sizeBytes);
  const others = mayBeHere(sent, mirror, here).filter(
    (other) => other.id !== document.supersedes && !followed.rows.has(other.id),
  );
  if (others.length === 0) return undefined;
  const paths = others.map((other) => joinRaw(other.dir, other.name));
  const look = () => lookAtPlaces(mirror, paths, here);
  const [looks, wasInHand] = await followed.puttingAway.during(look);
  if (paths.some((path, index) => looks[index] === null && wasInHand(id, path))) return "in hand";
  const original = others.find((_, index) => looks[index] === null);
  return original && (await isUnsure(context, original)) ? "in hand" : original;
}

/**
 * A file of another daemon's part may be in that one's hand, which only the journal tells: before it is
 * touched its after-action is due, and what became of it is journaled afterwards. Asked after the look.
 */
async function isUnsure(
  { journal, duties = ALL_DUTIES }: SyncContext,
  { id, mirrorId, dir, after }: Document,
): Promise<boolean> {
  if (isOwn(duties.division(mirrorId), dir)) return false;
  const now = await journal.document(id);
  return !now?.current || now.dir !== dir || now.after !== after || after === "due";
}
