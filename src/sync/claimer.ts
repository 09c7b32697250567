/**
 * Claiming: the intent of every attempt is committed before its first byte leaves. A row that
 * cannot be sent now gets the reason, or waits for its conflict.
 */
import { ArchiveError } from "../archive/archive-error.ts";
import { chargeOf } from "../domain/allowance.ts";
import type { Document, Problem } from "../domain/document.ts";
import type { Applied, Change, ContentIndex, DocumentWriter } from "../journal/journal.ts";
import type { Outcome } from "../domain/outcome.ts";
import { eventFor } from "../domain/event-for.ts";
import { codeOf, messageOf } from "../std/fault.ts";
import type { LiveMirror, DecisionContext, SyncContext } from "./context.ts";
import { asSeen } from "./changes.ts";
import { BEHIND, behindMs, HOLD } from "./waits.ts";
import { isSameFile } from "../domain/stamp.ts";
import { mayBeDecidedAgain } from "./decided-again.ts";
import { recheck } from "./retry.ts";
import { asDuplicate } from "./duplicates.ts";
import type { FirstRun } from "./first-run.ts";
import type { Placement } from "./folders.ts";

/** Folders that are looked up at a time; few, since a struggling archive is to be left in peace. */
const AHEAD = 8;

/** A document whose intent is committed, and its mirror. */
export type ClaimedDocument = { readonly document: Document; readonly mirror: LiveMirror };

/** What could be claimed; `problem` when the archive could not be asked for a folder. */
export type Claims = {
  readonly claimed: readonly ClaimedDocument[];
  readonly problem: Problem | null;
};

/** `later`: it waits for another document, or ends here as its duplicate. */
export type ClaimDecision =
  | { readonly kind: "send"; readonly folderId: number }
  | { readonly kind: "hold"; readonly problem: Problem; readonly folderId?: number | undefined }
  | {
      readonly kind: "later";
      readonly change: Change;
      readonly folderId?: number;
      readonly isDuplicate?: true;
    };

export class Claimer {
  readonly #context: DecisionContext<ContentIndex & DocumentWriter>;
  readonly #placement: Placement;
  readonly #firstRun: FirstRun | undefined;

  /** Without `firstRun`, every first run is over. */
  constructor(
    context: DecisionContext<ContentIndex & DocumentWriter>,
    placement: Placement,
    firstRun?: FirstRun,
  ) {
    this.#context = context;
    this.#placement = placement;
    this.#firstRun = firstRun;
  }

  /**
   * Commits the intents of as many candidates as have a place, all in one transaction; none where, once the archive
   * was asked, it may not any more.
   */
  async claim(
    candidates: readonly Document[],
    mayCommit: () => boolean,
    signal: AbortSignal,
  ): Promise<Claims> {
    const { journal, mirrors } = this.#context;
    const changes: Change[] = [];
    const taken = new Set<string>();
    let problem: Problem | null = null;
    const foresee = this.#foreseeing(candidates, signal);
    const sentElsewhere = await this.#sentElsewhere(candidates);
    for (const document of candidates) {
      foresee(document);
      const mirror = mirrors.get(document.mirrorId);
      if (!mirror || document.batch === null) continue;
      try {
        // What is remembered of its folders may be another archive's.
        await this.#context.identity?.assert(signal);
        const change = sentElsewhere.has(document.id)
          ? recheck(document, this.#context.clock.now())
          : await this.#change(document, document.batch, mirror, taken, signal);
        // Asking the archive takes its time: by then another content may be ready at this path.
        changes.push(...asSeen(document, [change]));
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ArchiveError)) throw error;
        problem = error.problem;
        break;
      }
    }
    if (!mayCommit()) return { claimed: [], problem };
    const applied = await journal.apply(changes);
    await this.#putOff(applied);
    const claimed = applied.flatMap(({ document, skipped }) => {
      const mirror = document && mirrors.get(document.mirrorId);
      return document?.state === "uploading" && mirror && !skipped ? [{ document, mirror }] : [];
    });
    return { claimed, problem };
  }

  /**
   * Candidates whose very file was sent from another place since they were decided: it was moved there and back before
   * a scan noticed. What was decided a moment ago is not asked about: elsewhere it would not be stable yet.
   */
  async #sentElsewhere(candidates: readonly Document[]): Promise<ReadonlySet<number>> {
    const { journal, mirrors, configured, clock } = this.#context;
    const now = clock.now();
    const found = new Set<number>();
    const waited = candidates.flatMap((document) => {
      const { digest, settledAt, seen } = document;
      const { settleMs = 0 } = mirrors.get(document.mirrorId)?.settings ?? {};
      if (digest === null || settledAt === null || now - settledAt < settleMs) return [];
      return mayBeDecidedAgain(document) ? [{ ...document, ...seen, digest, settledAt }] : [];
    });
    if (waited.length === 0) return found;
    const known = await journal.knownContents(waited);
    for (const { id, digest, sizeBytes, stamp, settledAt } of waited) {
      if (!known.has(digest)) continue;
      for (const mirrorId of configured.keys()) {
        const sent = await journal.sentWith(mirrorId, digest, sizeBytes);
        const isIt = (row: Document) =>
          row.id !== id && (row.sentAt ?? 0) >= settledAt && isSameFile(row.seen.stamp, stamp);
        if (sent.some(isIt)) found.add(id);
      }
    }
    return found;
  }

  /**
   * To be called with each candidate in turn: where it and those behind it go is looked up side by side, and
   * what is there already, as each folder is a request and more.
   */
  #foreseeing(candidates: readonly Document[], signal: AbortSignal): (next: Document) => void {
    const folderOf = ({ mirrorId, targetPath }: Document) => `${mirrorId} ${targetPath}`;
    const folders = new Map<string, number>();
    const firsts = candidates.filter((document) => {
      const folder = folderOf(document);
      return !folders.has(folder) && folders.set(folder, folders.size);
    });
    let seen = 0;
    return (next) => {
      const until = (folders.get(folderOf(next)) ?? 0) + AHEAD;
      for (const first of firsts.slice(seen, until)) this.#foresee(first, signal);
      seen = Math.max(seen, until);
    };
  }

  /** Nothing is made of a failure here: who needs the folder meets the same. */
  #foresee({ mirrorId, targetPath }: Document, signal: AbortSignal): void {
    const mirror = this.#context.mirrors.get(mirrorId);
    if (!mirror) return;
    const placed = this.#placement.of(targetPath ?? "/", mirror, signal).then((place) => {
      if ("folderId" in place) this.#firstRun?.foresee(mirrorId, place.folderId, signal);
    });
    placed.catch(() => {});
  }

  /** Another daemon was quicker with one of its name or content. */
  async #putOff(applied: readonly Applied[]): Promise<void> {
    const late = applied.flatMap(({ change, skipped, document }) => {
      if (!skipped || change.type !== "event" || document?.state !== "pending") return [];
      // Another content than was looked at is looked at again.
      return change.given?.stamp === document.seen.stamp ? [document.id] : [];
    });
    if (late.length === 0) return;
    const at = this.#context.clock.now();
    const why = "another document of this name or content is under way";
    await this.#context.journal.apply(late.map((id) => putOff(id, at, why)));
  }

  /** Rejects with `ArchiveError` when the archive cannot be asked for the folder. */
  async #change(
    document: Document,
    batch: string,
    mirror: LiveMirror,
    taken: Set<string>,
    signal: AbortSignal,
  ): Promise<Change> {
    const decision = await this.decide(document, mirror, taken, signal);
    if (decision.kind === "later") return decision.change;
    const at = this.#context.clock.now();
    const { id } = document;
    if (decision.kind === "hold") {
      const event = { type: "heldBack", at, dueAt: null, problem: decision.problem } as const;
      return { type: "event", id, event, from: ["pending"] };
    }
    const { folderId } = decision;
    const claimed = { at, archiveAt: this.#archiveTime(at), folderId, batch };
    return {
      type: "event",
      id,
      event: { type: "claimed", ...claimed, charge: chargeOf(document) },
      from: ["pending"],
      alone: mirror.settings.rules.duplicates === "upload" ? "name" : "nameAndContent",
    };
  }

  /**
   * What becomes of a document that is ready; `taken`: the names and contents that others are claimed with, to which
   * it is added. Rejects with `ArchiveError` when the archive cannot be asked.
   */
  async decide(
    document: Document,
    mirror: LiveMirror,
    taken: Set<string>,
    signal: AbortSignal,
  ): Promise<ClaimDecision> {
    const { id, targetPath, sentName } = document;
    const duplicate = await this.#duplicate(document, mirror, taken);
    if (duplicate) return { kind: "later", change: duplicate, isDuplicate: true };
    const place = await this.#placement.of(targetPath ?? "/", mirror, signal);
    const at = this.#context.clock.now();
    if ("problem" in place) return { kind: "hold", problem: place.problem };
    const { folderId } = place;
    const key = `${folderId}/${sentName}`;
    const conflict = await this.#conflict(document, folderId);
    if (conflict || taken.has(key)) {
      const why = "another document of this name in this folder is under way";
      return {
        kind: "later",
        change: putOff(id, at, why, conflict && behindMs(conflict, at)),
        folderId,
      };
    }
    const objection = await this.#firstRun?.objection(document, folderId, signal);
    if (objection && "conflict" in objection) {
      const waitMs = behindMs(objection.conflict, at);
      return {
        kind: "later",
        change: putOff(id, at, "one of this name is in doubt", waitMs),
        folderId,
      };
    }
    if (objection) return { kind: "hold", problem: objection, folderId };
    // What is held is sent by nobody: another one of its content waits for what it is held for itself.
    taken.add(key).add(twinOf(document));
    return { kind: "send", folderId };
  }

  /** Of two that are ready at once one is sent, and the other waits to learn what became of it. */
  async #duplicate(
    document: Document,
    mirror: LiveMirror,
    taken: Set<string>,
  ): Promise<Change | undefined> {
    if (mirror.settings.rules.duplicates === "upload") return undefined;
    const twin = twinOf(document);
    if (!taken.has(twin)) return asDuplicate(this.#context, mirror, document);
    const why = "another document of the same content is under way";
    return putOff(document.id, this.#context.clock.now(), why);
  }

  #archiveTime(at: number): number | null {
    const { clockOffsetMs } = this.#context.archive;
    return clockOffsetMs === undefined ? null : at + clockOffsetMs;
  }

  /** Two of one name in one folder at a time could not be told apart if both replies were lost. */
  async #conflict(document: Document, folderId: number): Promise<Document | undefined> {
    const conflicts = await this.#context.journal.conflicts(folderId, document.sentName ?? "");
    return conflicts.find(({ id }) => id !== document.id);
  }
}

/** The same for two documents of a mirror with the same content. */
function twinOf({ mirrorId, digest }: Document): string {
  return `${mirrorId} ${digest}`;
}

/** Looked at again soon; not where it has changed meanwhile, and has to be quiet for longer. */
function putOff(id: number, at: number, why: string, waitMs = BEHIND.initialMs): Change {
  return { type: "note", id, at, why, set: { dueAt: at + waitMs }, from: ["pending"] };
}

/** Journals what became of an attempt; resolves with what that came to. */
export async function recordOutcome(
  context: SyncContext<ContentIndex & DocumentWriter>,
  { document, mirror }: { readonly document: Document; readonly mirror: LiveMirror },
  outcome: Outcome,
): Promise<Outcome> {
  const { clock, journal, config, random } = context;
  const { settleMs } = mirror.settings;
  const policy = { retry: config.upload.retry, hold: HOLD, poll: config.conversion.poll };
  const event = eventFor(document, outcome, clock.now(), { ...policy, settleMs, random });
  try {
    await journal.apply([{ type: "event", id: document.id, event, from: ["uploading"] }]);
    return outcome;
  } catch (error) {
    if (outcome.kind !== "accepted" || codeOf(error) !== "DOCUMENT_ID_TAKEN") throw error;
    // An archive that gives one id twice has not told us which document is ours.
    const problem = { code: "DOCUMENT_ID_TAKEN", message: messageOf(error) };
    return await recordOutcome(context, { document, mirror }, { kind: "inDoubt", problem });
  }
}
