/**
 * The life of one document.
 *
 *     settling  -> settling  [changed]     written again: the quiet time starts over
 *     settling  -> settling  [unfinished]  quiet, but its own format says there is more to come
 *     settling  -> pending   [settled]     quiet, complete, digest known
 *     settling  -> held      [heldBack]    cannot be read, or is empty
 *     settling  -> held      [vetoed]      a hook will not have it sent
 *     pending   -> settling  [changed]
 *     pending   -> settling  [recheck]     what it was decided by was corrected
 *     pending   -> uploading [claimed]     the intent: committed before the first byte leaves
 *     pending   -> uploaded  [adopted]     the archive had it before: a person claimed it
 *     pending   -> converted [duplicated]  the archive has this content of another path
 *     pending   -> held      [heldBack]    folder missing, or the account's gate is closed
 *     uploading -> uploaded  [accepted]    the archive answered with a document id
 *     uploading -> pending   [released]    given back before it was begun: costs no attempt
 *     uploading -> pending   [deferred]    proven not stored, worth another attempt
 *     uploading -> settling  [changed]     the file changed; the request was torn down
 *     uploading -> held      [heldBack]    refused for a reason outside the document
 *     uploading -> failed    [refused]     refused for good
 *     uploading -> inDoubt   [inDoubt]     no parsed reply, or a crash while it was under way
 *     inDoubt   -> inDoubt   [looked]      not found yet: look again later
 *     inDoubt   -> uploaded  [found]       the archive has it
 *     inDoubt   -> pending   [absent]      looked long enough: it is not there
 *     inDoubt   -> held      [heldBack]    several candidates: a person can tell
 *     uploaded  -> uploaded  [polled]      not CONVERTED yet
 *     uploaded  -> converted [converted]   final
 *     uploaded  -> failed    [vanished]    the archive no longer knows it
 *     uploaded  -> inDoubt   [mistaken]    the archive has another document under its id
 *     converted -> inDoubt   [mistaken]    the same, before its file was moved or deleted
 *     held      -> pending   [goesOn]      what it waited for is there
 *     held      -> settling  [recheck]     not settled before it was held: look at the file again
 *     held      -> settling  [changed]     another content, another chance
 *     held      -> inDoubt   [lookAgain]   held while in doubt
 *     held      -> held      [heldBack]    the reason changed
 *     failed    -> pending   [goesOn]      a person asked
 *     failed    -> settling  [changed]
 *     failed    -> settling  [recheck]     a person asked, and what goes with it is decided again
 *     failed    -> failed    [mistaken]    the archive no longer knew it, and gave its id to another document
 *
 * Invariants:
 * (1) A row enters `uploading` only with digest, sent name, folder and batch, and only by `claimed`.
 * (2) A row leaves `uploading` for anything but `released`, `deferred`, `heldBack`, `refused` or
 *     `changed` unless the attempt is proven not to have been stored.
 * (3) From `inDoubt` only a look at the archive leads on; nothing is sent from there.
 * (4) After a crash a row is still `uploading`; start-up moves it by `inDoubt`.
 */
import { invariant, InvariantError } from "../std/fault.ts";
import { ANYWAY_CODES } from "./code-sets.ts";
import { lostBefore } from "./lost-replies.ts";
import type { Document, State } from "./document.ts";
import type { Event, EventType } from "./event.ts";
import {
  goOn,
  hasArrived,
  holdBack,
  isMistaken,
  type On,
  type Patch,
  saidDate,
  startAgain,
  startOver,
  UNTROUBLED,
} from "./patches.ts";
import { isAsNew } from "./adopt.ts";
import { isAskedFor } from "./settle.ts";
import { asksAgain } from "./attributes.ts";
import { failuresInARow } from "./backoff.ts";

export type { Event, EventType, Patch };

type Arrows = {
  readonly [S in State]: {
    readonly [T in EventType]?: (document: Document, event: On<T>) => Patch;
  };
};

/** One function per arrow of the diagram above; a test holds the two together. */
export const ARROWS: Arrows = {
  settling: {
    changed: startOver,
    unfinished: (_, { dueAt, problem }) => ({ state: "settling", dueAt, problem }),
    settled: (was, { at, digest, sentName, targetPath, attributes, remark, batch, estimate }) => ({
      state: "pending",
      digest,
      sentName,
      targetPath,
      attributes: attributes ?? null,
      remark,
      batch,
      estimate: estimate ?? null,
      // Its name and folder come from where it is now, wherever an earlier attempt took it from.
      movedFrom: null,
      movedAt: null,
      settledAt: at,
      dueAt: at,
      ...(asksAgain(attributes, was.problem) ? {} : UNTROUBLED),
    }),
    // Asked for while it was looked at: it is looked at again, and sent then.
    heldBack: (was, event) =>
      holdBack(
        was,
        ANYWAY_CODES.includes(event.problem.code) && isAskedFor(was)
          ? { ...event, dueAt: event.at }
          : event,
      ),
    vetoed: (_, { digest, attributes, problem, after }) => ({
      state: "held",
      digest,
      attributes: attributes ?? null,
      dueAt: null,
      problem,
      consecutiveFailures: 1,
      after,
      afterMessage: null,
    }),
  },
  pending: {
    changed: startOver,
    recheck: startAgain,
    claimed: (document, { at, archiveAt, folderId, batch, charge }) => ({
      state: "uploading",
      folderId,
      batch,
      charge: charge ?? 0,
      sentBytes: document.seen.sizeBytes,
      attempts: document.attempts + 1,
      sentAt: at,
      sentArchiveAt: archiveAt,
      archiveUploadedAt: null,
      dueAt: null,
    }),
    adopted: (_, { at, dueAt, documentId, folderId, status, sentBytes, uploadedDate }) => ({
      state: "uploaded",
      documentId,
      folderId,
      archiveUploadedAt: saidDate(uploadedDate),
      // Whatever earlier attempts were estimated to cost, this document was not sent by them.
      charge: null,
      sentBytes,
      archiveStatus: status,
      uploadedAt: at,
      dueAt,
      polls: 0,
      ...UNTROUBLED,
      remark: "was in the archive already",
    }),
    duplicated: (_, { at, original, remark, after }) => ({
      state: "converted",
      duplicateOf: original.id,
      documentId: original.documentId,
      folderId: original.folderId,
      sentName: original.sentName,
      archiveStatus: "CONVERTED",
      uploadedAt: original.uploadedAt,
      archiveUploadedAt: original.archiveUploadedAt,
      convertedAt: at,
      pages: original.pages,
      archiveBytes: original.archiveBytes,
      sentBytes: original.sentBytes,
      digidoc: original.digidoc,
      remark,
      after,
      dueAt: null,
      problem: null,
    }),
    heldBack: holdBack,
  },
  uploading: {
    accepted: (_, event) => hasArrived(event),
    released: (document, { at }) => ({
      state: "pending",
      attempts: document.attempts - 1,
      sentAt: null,
      sentArchiveAt: null,
      dueAt: at,
    }),
    deferred: (document, { dueAt, problem, attributes }) => ({
      state: "pending",
      dueAt,
      problem,
      consecutiveFailures: failuresInARow(document, problem),
      ...(attributes === undefined ? {} : { attributes }),
    }),
    changed: startOver,
    heldBack: holdBack,
    refused: (_, { problem }) => ({ state: "failed", dueAt: null, problem }),
    inDoubt: (document, { at, dueAt, problem }) => ({
      state: "inDoubt",
      doubtAt: at,
      looks: 0,
      dueAt,
      problem,
      consecutiveFailures: lostBefore(document, problem),
      ...(isAsNew(document) ? { remark: null } : {}),
    }),
  },
  inDoubt: {
    looked: (document, { dueAt }) => ({ state: "inDoubt", looks: document.looks + 1, dueAt }),
    found: (_, event) => ({ ...hasArrived(event), doubtAt: null }),
    absent: ({ consecutiveFailures }, { at, problem }) => ({
      state: "pending",
      dueAt: at,
      doubtAt: null,
      ...(problem ? { problem, consecutiveFailures: consecutiveFailures + 1 } : UNTROUBLED),
    }),
    heldBack: holdBack,
  },
  uploaded: {
    polled: (document, { dueAt, status, problem }) => ({
      state: "uploaded",
      archiveStatus: status,
      polls: document.polls + 1,
      dueAt,
      problem,
    }),
    converted: (_, { at, pages, archiveBytes, digidoc, after, remark }) => ({
      state: "converted",
      archiveStatus: "CONVERTED",
      convertedAt: at,
      pages,
      archiveBytes,
      digidoc,
      after,
      dueAt: null,
      problem: null,
      ...(remark === undefined ? {} : { remark }),
    }),
    vanished: (_, { problem }) => ({ state: "failed", dueAt: null, problem }),
    mistaken: isMistaken,
  },
  converted: { mistaken: isMistaken },
  held: {
    goesOn: goOn,
    recheck: startAgain,
    changed: startOver,
    lookAgain: (_, { at }) => ({ state: "inDoubt", dueAt: at }),
    heldBack: holdBack,
  },
  failed: {
    goesOn: goOn,
    recheck: startAgain,
    changed: startOver,
    mistaken: () => ({ state: "failed", documentId: null, archiveStatus: null }),
  },
};

/**
 * What `event` makes of `document`. Throws `InvariantError` where no arrow leads: an impossible
 * move is a bug, never a silent no-op.
 */
export function transition(document: Document, event: Event): Patch {
  // The mapped type pairs each row with its own event; the compiler cannot carry that pairing
  // through two look-ups, so the cast lives here, once.
  const arrow = ARROWS[document.state][event.type] as
    | ((document: Document, event: Event) => Patch)
    | undefined;
  const { id, state, digest, sentName, doubtAt } = document;
  if (!arrow) throw new InvariantError(`document ${id}: ${state} has no arrow for ${event.type}`);
  const isSettled = digest !== null && sentName !== null;
  if (event.type === "claimed")
    invariant(isSettled, `document ${id}: claimed before it was settled`);
  if (event.type === "lookAgain") invariant(doubtAt !== null, `document ${id}: was never in doubt`);
  return arrow(document, event);
}
