/** Whether the bytes of a file that has settled, or others of its path, were sent before, and what becomes of its row then. */
import { hasWaited, isRecentChange, tooOften } from "../domain/change-rate.ts";
import { type Document, mayBeArchived, type Problem, SENT_STATES } from "../domain/document.ts";
import { isAnotherInode, isRecreated } from "../domain/stamp.ts";
import type { Change } from "../journal/journal.ts";
import { joinRaw } from "../std/raw-path.ts";
import { lastingMs } from "../domain/backoff.ts";
import { GONE_ALREADY, NO_MIRROR } from "./after-loop.ts";
import { BEHIND, BEHIND_SOURCE, behindMs } from "./waits.ts";
import type { LiveMirror, DecisionContext } from "./context.ts";
import { decisionOn, type Whole } from "./prepare.ts";
import { invalidateDirectory } from "./changes.ts";
import {
  type Here,
  isHere,
  isWherePut,
  lookAtPlaces,
  mayBeHere,
  mayBeReplaced,
  EDITED,
  REPLACED,
  type Followed,
} from "./former-places.ts";
import { awayOf, movedFromOther } from "./other-mirrors.ts";

/** What becomes of a revision whose bytes are those of the one before it. */
const TOUCHED = "touched, not changed";

/** What is asked about: a file that has settled, as it was found at `at` (epoch ms). */
export type Settled = {
  readonly mirror: LiveMirror;
  readonly document: Document;
  readonly whole: Whole;
  readonly followed: Followed;
  readonly at: number;
  /** False: its content is none of `ContentIndex.knownContents`. */
  readonly isKnown: boolean;
};

/**
 * The bytes are in the archive already, or on their way, or an edit that is not to be sent: what becomes of the row,
 * whatever the rules say of files that are to be sent. Undefined: they are to be sent.
 */
export async function alreadySent(
  context: DecisionContext,
  file: Settled,
): Promise<Change[] | undefined> {
  const before = await predecessor(context, file.document);
  return (
    (before && touched(file, before)) ??
    (file.isKnown ? await byContent(context, file) : undefined) ??
    (before && asEdit(file, before))
  );
}

/**
 * What the contents before it say that were sent of the same path: too many of them keep it back for a while. Reads no
 * more of them than may be sent within an hour.
 */
export async function sentOften(
  context: DecisionContext,
  { mirror, document, at }: Pick<Settled, "mirror" | "document" | "at">,
): Promise<Change[] | undefined> {
  const { changesPerHour: max } = mirror.settings;
  if (hasWaited(document.problem)) return undefined;
  const recent: Document[] = [];
  for (let row = await predecessor(context, document); row && recent.length < max; ) {
    if (!isRecentChange(row, at)) break;
    recent.push(row);
    row = await predecessor(context, row);
  }
  const often = tooOften(recent, at, max);
  if (!often) return undefined;
  const event = { type: "heldBack", at, ...often } as const;
  return [{ type: "event", id: document.id, event, from: ["settling"] }];
}

async function predecessor(
  { journal }: DecisionContext,
  { supersedes }: Pick<Document, "supersedes">,
): Promise<Document | undefined> {
  return supersedes === null ? undefined : journal.document(supersedes);
}

/** The revision before it, which stood at the same path, had these bytes. */
function touched(file: Settled, before: Document): Change[] | undefined {
  const { mirror, document, whole, followed, at } = file;
  const { digest } = whole;
  if (followed.rows.has(before.id)) {
    return waits(file, "what stood here before is just found elsewhere", at);
  }
  const isIgnored = isIgnoring(mirror) && before.ignoredDigest === digest;
  if (before.digest !== digest && !isIgnored) return undefined;
  followed.rows.add(before.id);
  return [
    forgetOf(document, at, TOUCHED),
    { type: "note", id: before.id, at, why: TOUCHED, set: again(file, before) },
  ];
}

/** An edit of the revision before it, which `changed: ignore` leaves alone. */
function asEdit(file: Settled, before: Document): Change[] | undefined {
  const { mirror, document, whole, at } = file;
  const { seen, digest, bornAt } = whole;
  // A name that was free again and is used for something new is not an edit: it is always sent.
  // Neither is one whose predecessor turned out not to have been sent: that was torn down with it.
  if (!isSent(before) || !isIgnoring(mirror)) return undefined;
  if (isRecreated(before.seen.stamp, seen.stamp, bornAt)) return undefined;
  // What is in doubt is known by its size, which the row must keep until then.
  if (before.state === "uploading" || before.doubtAt !== null) {
    const why = "waits until it is certain what became of the content before it";
    return waits(file, why, at + Math.max(mirror.settings.settleMs, behindMs(before, at)));
  }
  const remark = isAnotherInode(before.seen.stamp, seen.stamp) ? REPLACED : EDITED;
  return [
    forgetOf(document, at, remark),
    { type: "note", id: before.id, at, why: remark, set: { seen, remark, ignoredDigest: digest } },
  ];
}

/** What is in the history of the one before it leaves no other trace, or a touch a night would fill the journal. */
function forgetOf({ id, attempts }: Document, at: number, why: string): Change {
  const traceless = attempts === 0;
  return { type: "forget", id, at, why, restore: true, traceless, from: ["settling"] };
}

/** What another file of the mirror, or of another one, says that had this content, and is not where it was. */
async function byContent(context: DecisionContext, file: Settled): Promise<Change[] | undefined> {
  const { mirror, document, whole, followed, at } = file;
  const path = joinRaw(document.dir, document.name);
  const here = { ...whole, mirrorId: mirror.row.id, path };
  const original =
    (await movedFrom(context, mirror, document, here, followed)) ??
    (await movedFromOther(context, { mirror, here, whole, at }, followed));
  if (!original) return undefined;
  if (original === "in hand") {
    const why = "waits until it is certain what became of a file of the same content";
    // A minute in hand is long; from then on it may be hours.
    return waits(file, why, at + lastingMs(BEHIND, at - document.changedAt - BEHIND.maxMs));
  }
  if ("message" in original) {
    const dueAt = at + lastingMs(BEHIND_SOURCE, at - document.changedAt);
    const event = { type: "heldBack", at, dueAt, problem: original } as const;
    return [{ type: "event", id: document.id, event, from: ["settling"] }];
  }
  followed.rows.add(original.id);
  const { id, dir, mirrorId } = original;
  const left = invalidateDirectory(mirrorId, dir);
  const place = { mirrorId, dir };
  const isFiled = goesWhere(original, mirror, file);
  const follow = { type: "follow", id, successor: document.id, at, place, isFiled } as const;
  const isPutOff = original.after === "due" && original.afterMessage === NO_MIRROR;
  const wasToGo = wasNotThere(original) || isAgainInTheWay(original, mirror, here);
  const isToGo = isPutOff || (wasToGo && mirror.settings.after.kind !== "keep");
  const changes: Change[] = [left, follow];
  // Of what is left alone the remark goes with it.
  if (mayBeReplaced(original) && original.digest === whole.digest) {
    const set = { remark: null, ignoredDigest: null };
    changes.push({ type: "note", id, at, why: "found where it was moved to", set });
  }
  if (!isToGo) return changes;
  const why =
    original.after === "done"
      ? "back after it was moved or deleted"
      : "moved before it was moved or deleted";
  const set = { after: "due", afterMessage: null, dueAt: at } as const;
  return [...changes, { type: "note", id, at, why, set }];
}

/** The archive has the document in the folder, and under the name, that its file would have from here. */
function goesWhere({ targetPath, sentName, sentAt }: Document, mirror: LiveMirror, file: Settled) {
  const path = joinRaw(file.document.dir, file.document.name);
  const decision = decisionOn(mirror.settings, path, file.whole, sentAt ?? file.at);
  if (!("decided" in decision)) return false;
  return decision.decided.folder === targetPath && decision.decided.name.name === sentName;
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

/** It was to be moved or deleted after it had left, where there was nothing any more, or another file. */
function wasNotThere({ current, after, afterMessage }: Document): boolean {
  return afterMessage === GONE_ALREADY || (!current && after === "refused");
}

/** It was moved or deleted, and is back; not where it was put, which is looked at since files are put elsewhere. */
function isAgainInTheWay(row: Document, { settings }: LiveMirror, here: Here): boolean {
  return row.after === "done" && !isWherePut(row, settings.source, here);
}

function isIgnoring({ settings }: LiveMirror): boolean {
  return settings.changed === "ignore";
}

/**
 * A file that came back after its after-action is moved or deleted once more, if it has what was sent. One that was to be kept
 * as its document became CONVERTED stays, whatever `after` says by now: a touch is nobody's word.
 */
function again({ mirror, whole: { seen, digest } }: Settled, before: Document) {
  const wasToGo = before.after !== null || before.afterMessage !== null;
  const mayGo = wasToGo && before.digest === digest && mirror.settings.after.kind !== "keep";
  const again = before.state === "converted" && mayGo;
  return { seen, goneAt: null, ...(again ? { after: "due" as const } : {}) };
}

/**
 * A sent row with these bytes whose file is not where it was: this is that file. `in hand`: one is
 * just being moved or deleted, and may be back in a moment. A problem: nobody can look whether it is there.
 */
async function movedFrom(
  context: DecisionContext,
  mirror: LiveMirror,
  document: Document,
  here: Here & Pick<Whole, "digest">,
  followed: Followed,
): Promise<Document | Problem | "in hand" | undefined> {
  const { id } = mirror.row;
  const sent = await context.journal.sentWith(id, here.digest, here.seen.sizeBytes);
  const ignored = isIgnoring(mirror) ? await context.journal.ignoredWith(id, here.digest) : [];
  // What the archive does not have, there is nothing to leave alone for.
  const known = [...sent, ...ignored.filter(mayBeArchived)];
  // Looked at twice, it may have been sent by the first look: then the second changes nothing.
  const isOther = ({ id }: Document) => id !== document.id && id !== document.supersedes;
  const others = mayBeHere(known, mirror, here).filter(
    (other) => isOther(other) && !followed.rows.has(other.id),
  );
  if (others.length === 0) return undefined;
  const paths = others.map((other) => joinRaw(other.dir, other.name));
  const look = () => lookAtPlaces(mirror, paths, here.path);
  const [looks, wasInHand] = await followed.afterActions.during(look);
  const isFound = others.map((other, index) => isHere(other, looks[index], here));
  if (paths.some((path, index) => isFound[index] && wasInHand(id, path))) return "in hand";
  const unknown = paths.find((_, index) => isFound[index] === "unknown");
  const found = others.find((_, index) => isFound[index] === true);
  return found ?? (unknown === undefined ? undefined : awayOf(mirror, unknown));
}
