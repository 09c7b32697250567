/**
 * In doubt: what was sent without a reply is looked for in the archive, again and again over a
 * window, before anything is sent again.
 */
import type { ArchiveJournal, Documents } from "../journal/journal.ts";
import { ArchiveError } from "../archive/archive-error.ts";
import { absence, ASKED_CODES, doubtWindowMs } from "../domain/lost-replies.ts";
import { backoffMs, failuresInARow } from "../domain/backoff.ts";
import type { Document } from "../domain/document.ts";
import { failureOf } from "../domain/failure.ts";
import type { Event } from "../domain/life.ts";
import {
  type Candidate,
  type DoubtPolicy,
  type DoubtSpan,
  doubtSpan,
  earliestUpload,
  type Evidence,
  mayBeBytes,
  nameKey,
  reconcile,
} from "../domain/reconcile.ts";
import { ELSEWHERE } from "../domain/code-sets.ts";
import { type DocumentDetail, LIMITS } from "../wire/shapes.ts";
import { backOf, keepsDates } from "./archive-clocks.ts";
import type { SyncContext } from "./context.ts";
import { conflictsOf, documentsIn, isForeign, isForGood, messageOn } from "./foreign-documents.ts";
import type { Listed } from "./foreign-documents.ts";
import type { AccountGate } from "./account-gate.ts";
import { loop, untilNext } from "./loop.ts";
import { foundAs, takeOver } from "./mistaken.ts";
import { HOLD } from "./waits.ts";

/** Documents looked for in one step; they usually share a folder and so a listing. */
const LOOK_MAX = 200;

/**
 * Items of a page: a doubt is about the newest documents of a folder, or, where no clock tells which, about all. Where
 * one is known to be behind, these may be as many: small pages would be more than are read.
 */
const PAGE_SIZE = 200;
const PAGE_SIZE_OF_ALL = LIMITS.paginationSize.documents;

/** So often one that is ambiguous is looked at before others wait for it no longer: until it is converted, that may pass. */
const AMBIGUOUS_MAX = 5;

/** The wait between the first two looks; it doubles. */
const FIRST_LOOK_MS = 1_000;

/** The first time that a folder cannot be listed is waited for as if it were so many already. */
const TRIES_MIN = 3;

/** Clocks may differ by this many times more without the archive's own; with it, so may those of its replies and documents. */
const UNKNOWN_CLOCK = 15;

/** Bounds on an archive whose search knows no order, or heeds no name. */
const SEARCH = { olderMin: 1_000, pagesMax: 10 };

/** A search that fails for so long is never answered: what it could tell is done without. */
const SEARCHED_MS = 24 * 3_600_000;

export class Doubts {
  readonly #context: SyncContext<ArchiveJournal & Documents>;
  readonly #keeper: AccountGate;
  /** What this run knows of how long each doubt has lasted. */
  readonly #met = new Map<number, { readonly doubtAt: number | null; readonly span: DoubtSpan }>();
  /** How often in a row a folder could not be listed; or, by its negative id, a document searched for. */
  readonly #failures = new Map<number, number>();
  /** How far the clock that dates documents may be behind. */
  #lagMs = 0;
  #keepsDates = false;

  constructor(context: SyncContext<ArchiveJournal & Documents>, keeper: AccountGate) {
    this.#context = context;
    this.#keeper = keeper;
  }

  async run(stopping: AbortSignal): Promise<never> {
    const { wakeups } = this.#context;
    return loop(wakeups.doubts, this.#context, stopping, () => this.#step(stopping));
  }

  async #step(signal: AbortSignal): Promise<number> {
    const { journal, clock, pace } = this.#context;
    // Each look in a pause that was asked for would be journaled, and say how long that is still to last.
    if (pace.pauseMs > 0) return pace.pauseMs;
    const now = clock.now();
    const due = await journal.take({ state: "inDoubt", now, limit: LOOK_MAX });
    if (due.length === 0) return untilNext(journal, { state: "inDoubt" }, now);
    for (const [folderId, documents] of Map.groupBy(due, ({ folderId }) => folderId)) {
      if (folderId !== null) await this.#lookIn(folderId, documents, signal);
    }
    return 0;
  }

  async #lookIn(folderId: number, documents: Document[], signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    // What is stored while the list is read may not be in it: a look is as old as its beginning.
    const now = clock.now();
    const monotonic = clock.monotonic();
    this.#keepsDates = await keepsDates(this.#context);
    this.#lagMs = await backOf(this.#context, this.#keepsDates);
    let listed: Listed[];
    let isThere = true;
    try {
      const since = documents.map((one) => this.#earliest(one) - this.#policy(one).marginMs);
      const names = new Set(documents.map(({ sentName }) => nameKey(sentName)));
      listed = await this.#newest(folderId, Math.min(...since), names, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ArchiveError)) throw error;
      if (error.code !== "FOLDER_NOT_EXISTS") return this.#later(folderId, documents, error);
      // Nothing is listed there, which is no proof: see `absence`.
      listed = [];
      isThere = false;
    }
    this.#failures.delete(folderId);
    // One after another: what one document is found to be is no candidate for the next.
    const claimed = new Set<number>();
    for (const document of documents) {
      const { since, metAt } = this.#span(document, { now, monotonic });
      const among = (foreign: readonly Candidate[]) =>
        reconcile(document, foreign, {
          // Asked again: the list itself may have told the archive's clock.
          earliest: this.#earliest(document),
          claimed,
          lastedMs: monotonic - since,
          policy: this.#policy(document),
        });
      const finding = among(listed.filter(isForeign));
      if (finding.kind === "found") claimed.add(finding.candidate.id);
      if (await this.#isTakenOver(document, finding, () => among(listed))) continue;
      // Anyone who asked has looked there.
      if (finding.kind === "absent" && !ASKED_CODES.includes(document.problem?.code ?? "")) {
        const elsewhere = await this.#elsewhere(document, monotonic - metAt, signal);
        if (!elsewhere) continue;
        const found = among(elsewhere);
        if (found.kind !== "absent") {
          await this.#filedElsewhere(document, found);
          continue;
        }
      }
      await this.#conclude(document, finding, isThere);
    }
  }

  /** No foreign one is found: the list may show that one whose id another row has is not that row's any more, but its own. */
  async #isTakenOver(document: Document, { kind }: Evidence, amongAll: () => Evidence) {
    if (kind !== "absent" && kind !== "lookAgain") return false;
    const all = amongAll();
    return all.kind === "found" && (await takeOver(this.#context, document, all.candidate));
  }

  /** Whether a person has filed it there is for a person to say. */
  async #filedElsewhere(document: Document, finding: Evidence): Promise<void> {
    const candidates = finding.kind === "ambiguous" ? finding.candidates : [];
    const all = finding.kind === "found" ? [finding.candidate] : candidates;
    const { clock, journal, random } = this.#context;
    const conflicts = await conflictsOf(journal, document, all);
    const at = clock.now();
    // It may soon be known whose document it has; what is held for longer waits for a person itself.
    const isPassing = ({ state, dueAt, consecutiveFailures }: Document) =>
      state !== "held" || (dueAt !== null && consecutiveFailures < AMBIGUOUS_MAX);
    if (conflicts.some(isPassing)) {
      await this.#apply(document, { type: "looked", at, dueAt: at + backoffMs(HOLD, 1, random) });
      return;
    }
    this.#met.delete(document.id);
    const problem = { code: ELSEWHERE, message: messageOn(document, all) };
    await this.#apply(document, { type: "heldBack", at, dueAt: null, problem });
  }

  /** What may be this document in other folders; undefined where that is to be asked again later. */
  async #elsewhere(
    document: Document,
    metMs: number,
    signal: AbortSignal,
  ): Promise<Candidate[] | undefined> {
    const { sentName, seen, folderId } = document;
    const { storedSize } = this.#context.config.archive;
    const earliest = this.#earliest(document) - this.#policy(document).marginMs;
    const only = (each: DocumentDetail) =>
      each.folderId !== folderId && mayBeBytes(each, seen.sizeBytes, storedSize);
    const reading = { ...this.#context, ...SEARCH, only, earliest: () => earliest };
    const where = { ...(sentName !== null && { docFilename: sentName }), queryContent: false };
    const found: Candidate[] = [];
    try {
      for await (const each of documentsIn(where, reading, signal))
        if (isForeign(each)) found.push(each);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ArchiveError)) throw error;
      if (!isForGood(error) && metMs <= SEARCHED_MS) {
        await this.#later(-document.id, [document], error);
        return undefined;
      }
    }
    this.#failures.delete(-document.id);
    return found;
  }

  /** Its window is over neither sooner nor later for a clock that is set: what is stored late must not be missed. */
  #span({ id, doubtAt }: Document, at: { now: number; monotonic: number }): DoubtSpan {
    const known = this.#met.get(id);
    const span = doubtSpan(doubtAt, at, known?.doubtAt === doubtAt ? known.span : undefined);
    this.#met.set(id, { doubtAt, span });
    return span;
  }

  #earliest(document: Document): number {
    const { archive, clock } = this.#context;
    const times = { now: clock.now(), offsetMs: archive.clockOffsetMs ?? 0 };
    return earliestUpload(document, times, this.#policy(document));
  }

  /** The folder's documents of these names, as far back as a candidate could be. */
  async #newest(
    folderId: number,
    earliest: number,
    names: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<Listed[]> {
    const pageSize = earliest > 0 && this.#lagMs === 0 ? PAGE_SIZE : PAGE_SIZE_OF_ALL;
    const only = ({ filename, uploadedDate }: DocumentDetail) =>
      uploadedDate >= earliest && names.has(nameKey(filename));
    const reading = { ...this.#context, pageSize, only, earliest: () => earliest };
    return Array.fromAsync(documentsIn({ folderId }, reading, signal));
  }

  async #conclude(document: Document, finding: Evidence, isThere: boolean): Promise<void> {
    const at = this.#context.clock.now();
    if (finding.kind !== "lookAgain") this.#met.delete(document.id);
    switch (finding.kind) {
      case "found":
        return this.#apply(document, foundAs(finding.candidate, at));
      case "absent":
        return this.#apply(document, absence(document, at, isThere));
      case "lookAgain":
        return this.#apply(document, { type: "looked", at, dueAt: at + finding.waitMs });
      case "ambiguous":
        return this.#apply(document, this.#ambiguous(document, finding.candidates, at));
    }
  }

  /** Sizes become known with conversion, so time may still tell them apart. */
  #ambiguous(document: Document, candidates: readonly Candidate[], at: number): Event {
    const problem = { code: "DOUBT_AMBIGUOUS", message: messageOn(document, candidates) };
    const dueAt = at + backoffMs(HOLD, failuresInARow(document, problem), this.#context.random);
    return { type: "heldBack", at, dueAt, problem };
  }

  /** The archive could not be asked: that is no look, and decides nothing. */
  async #later(
    key: number,
    documents: readonly Document[],
    { problem }: ArchiveError,
  ): Promise<void> {
    const { journal, clock, config, random, log } = this.#context;
    if (failureOf(problem.code).fate === "gate") await this.#keeper.refused(problem, false);
    const at = clock.now();
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const dueAt = at + backoffMs(config.upload.retry, TRIES_MIN + failures, random);
    log.debug({ code: problem.code, documents: documents.length }, "could not look for documents");
    const why = `could not look: ${problem.message}`;
    await journal.apply(
      documents.map(
        ({ id, state }) => ({ type: "note", id, at, why, set: { dueAt }, from: [state] }) as const,
      ),
    );
  }

  async #apply(document: Document, event: Event): Promise<void> {
    const change = { type: "event", id: document.id, event, from: ["inDoubt"] } as const;
    await this.#context.journal.apply([change]);
  }

  #policy(document: Document): DoubtPolicy {
    const { config, archive } = this.#context;
    const { windowMs, toleranceMs } = config.upload.doubt;
    const furtherMs = toleranceMs * (UNKNOWN_CLOCK - 1);
    const unsureMs = archive.clockOffsetMs === undefined ? furtherMs : 0;
    return {
      windowMs: doubtWindowMs(document, windowMs),
      firstLookMs: FIRST_LOOK_MS,
      toleranceMs: toleranceMs + unsureMs,
      unsureMs,
      keepsDates: this.#keepsDates,
      marginMs: Math.max(furtherMs - unsureMs, this.#lagMs),
    };
  }
}
