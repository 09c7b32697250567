/**
 * Polling: documents the archive holds are followed until CONVERTED. One list a folder serves all of
 * its outstanding documents; a single look-up only where that is cheaper.
 */
import { ArchiveError, isCodeOf } from "../archive/archive-error.ts";
import { allDigidoc, allDocuments } from "../archive/paging.ts";
import { backoffMs } from "../domain/backoff.ts";
import type { Document, Problem } from "../domain/document.ts";
import { failureOf } from "../domain/failure.ts";
import type { Event } from "../domain/life.ts";
import { restAfterQuestionMs } from "../domain/question-pace.ts";
import { sizeRemark } from "../domain/stored-size.ts";
import type { ArchiveJournal, Change, Content, Documents, WorkQueue } from "../journal/journal.ts";
import { WorkShare } from "../std/work-share.ts";
import type { DocumentDetail } from "../wire/shapes.ts";
import type { SyncContext } from "./context.ts";
import type { AccountGate } from "./account-gate.ts";
import { loop, MAX_SLEEP_MS, untilNext, inTurn } from "./loop.ts";
import { type Heard, oursAmong } from "./mistaken.ts";
import { type Outage, Outages } from "./outage.ts";
import { COUNT_REST } from "./waits.ts";

/** Up to this many due documents of a folder are asked for one by one. */
const SINGLE_MAX = 2;

/** Outstanding documents of a folder that one list is read for. */
const OUTSTANDING_MAX = 10_000;

/** So many are journaled together of one list, so that they share a commit. */
const HEARD_MAX = 256;

/** How far a document's own clock and its neighbours' may differ before a list is read further. */
const SLACK_MS = 600_000;

/** A document the archive does not know is asked for over this long before it is called gone. */
const GRACE_MS = 60_000;

export class Poller {
  readonly #context: SyncContext<ArchiveJournal & Documents>;
  readonly #keeper: AccountGate;
  /** Since when the archive does not know a document, by its row; by the monotonic clock. */
  readonly #missingSince = new Map<number, number>();
  /** The folder that was being asked about last. */
  #asking = 0;
  /** When folders were asked about, by the monotonic clock. */
  readonly #askedAt = new Map<number, number>();
  readonly #counting: WorkShare;
  readonly #outages: Outages;
  #isAsked = false;

  constructor(context: SyncContext<ArchiveJournal & Documents>, keeper: AccountGate) {
    this.#context = context;
    this.#keeper = keeper;
    this.#counting = new WorkShare(context.clock, COUNT_REST);
    // A document may be CONVERTED at any moment; sending reports the outage.
    this.#outages = new Outages(context, { waitMsMax: MAX_SLEEP_MS, level: "debug" });
  }

  /** The archive could not be asked; undefined once it answers again. */
  get outage(): Outage | undefined {
    return this.#outages.current;
  }

  /** Asks once about all that is not CONVERTED, due or not. */
  askAll(): void {
    this.#isAsked = true;
    this.#context.wakeups.polling.notify();
  }

  async run(stopping: AbortSignal): Promise<never> {
    return loop(this.#context.wakeups.polling, this.#context, stopping, () => this.#step(stopping));
  }

  async #step(signal: AbortSignal): Promise<number> {
    const { journal, clock, pace } = this.#context;
    // A pause that was asked for is no outage, and does not count as a try.
    if (pace.pauseMs > 0) return pace.pauseMs;
    // Whatever is sent meanwhile rings; an archive that cannot be asked is left alone all the same.
    const leftMs = Math.max(this.#counting.restMs, this.#outages.waitMs);
    if (leftMs > 0) return leftMs;
    const now = clock.now();
    const due = this.#isAsked ? Number.MAX_SAFE_INTEGER : now;
    this.#isAsked = false;
    const folders = await this.#counting.work(() => journal.outstanding(due));
    const restMs = restAfterQuestionMs(folders.reduce((sum, { documents }) => sum + documents, 0));
    let restedInMs: number;
    try {
      restedInMs = await this.#askFolders(folders, restMs, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ArchiveError)) throw error;
      return this.#unanswered(error);
    }
    this.#outages.over();
    this.#forgetAllBut(folders);
    return Math.min(restedInMs, await untilNext(journal, { state: "uploaded" }, now));
  }

  /** Asks about all folders but those that rest; returns how long the first of these still does, ms. */
  async #askFolders(
    folders: Awaited<ReturnType<WorkQueue["outstanding"]>>,
    restMs: number,
    signal: AbortSignal,
  ): Promise<number> {
    let restedInMs = Number.POSITIVE_INFINITY;
    for (const { folderId, documents, due } of this.#inTurn(folders)) {
      if (due === 0) continue;
      const leftMs = this.#restLeft(folderId, restMs);
      if (leftMs > 0) {
        restedInMs = Math.min(restedInMs, leftMs);
        continue;
      }
      this.#asking = folderId;
      const share = restMs > 0 ? documents : due;
      if (share > SINGLE_MAX) await this.#askInBulk(folderId, signal);
      else await this.#askSingly(folderId, due, signal);
      this.#askedAt.set(folderId, this.#context.clock.monotonic());
    }
    return restedInMs;
  }

  /** Notes the outage; returns for how long the archive is left alone, ms. */
  async #unanswered({ problem }: ArchiveError): Promise<number> {
    this.#outages.met(problem, 0);
    if (failureOf(problem.code).fate === "gate") await this.#keeper.refused(problem, false);
    return this.#outages.waitMs;
  }

  /** What is left of a folder's rest. */
  #restLeft(folderId: number, restMs: number): number {
    const askedAt = this.#askedAt.get(folderId) ?? Number.NEGATIVE_INFINITY;
    return askedAt + restMs - this.#context.clock.monotonic();
  }

  #forgetAllBut(folders: readonly { folderId: number }[]): void {
    const outstanding = new Set(folders.map(({ folderId }) => folderId));
    for (const folderId of this.#askedAt.keys())
      if (!outstanding.has(folderId)) this.#askedAt.delete(folderId);
  }

  /** Begins after the folder where the last round ended: one that fails must not starve others. */
  #inTurn<F extends { folderId: number }>(folders: readonly F[]): F[] {
    const isLater = ({ folderId }: F) => folderId > this.#asking;
    return [...folders.filter(isLater), ...folders.filter((folder) => !isLater(folder))];
  }

  /** The first `limit` that are due. */
  async #askSingly(folderId: number, limit: number, signal: AbortSignal): Promise<void> {
    const documents = await this.#context.journal.outstandingIn(folderId, limit);
    await inTurn(documents, (document) => this.#ask(document, signal));
  }

  /**
   * Reads the folder's newest documents until every outstanding one was met or must lie behind, or to ask
   * about each takes fewer questions: one that is never CONVERTED may have a hundred thousand newer ones.
   */
  async #askInBulk(folderId: number, signal: AbortSignal): Promise<void> {
    const { archive, journal, clock } = this.#context;
    const documents = await journal.outstandingIn(folderId, OUTSTANDING_MAX);
    const waiting = new Map(documents.map((document) => [document.documentId, document]));
    const offset = archive.clockOffsetMs ?? 0;
    const sent = documents.map((each) => each.sentArchiveAt ?? (each.sentAt ?? 0) + offset);
    const oldest = Math.min(...sent) - SLACK_MS;
    const paginationSize = Math.min(OUTSTANDING_MAX, Math.max(100, documents.length));
    const query = { folderId, sortBy: "UPLOADED_DATE", sortDesc: true, paginationSize } as const;
    const heard: Heard[] = [];
    const containers: Heard[] = [];
    let read = 0;
    let failure: ArchiveError | undefined;
    try {
      for await (const item of allDocuments(archive, query, signal)) {
        read += 1;
        const document = waiting.get(item.id);
        if (document) {
          waiting.delete(item.id);
          (isContainer(item) ? containers : heard).push({ document, item });
          if (heard.length >= HEARD_MAX) await this.#allHeard(heard.splice(0), signal);
        }
        const isDear = read >= paginationSize * waiting.size;
        if (isDear || item.uploadedDate < oldest) break;
      }
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      // Documents of a folder that is gone may live on in another.
      if (error.code !== "FOLDER_NOT_EXISTS") failure = error;
    }
    // What was heard is so, whatever the rest of the list came to.
    await this.#allHeard(heard, signal);
    // A list can be stale; only a question about the document itself tells that it is gone.
    const now = clock.now();
    const due = [...waiting.values()].filter(({ dueAt }) => !failure && (dueAt ?? 0) <= now);
    const asks = [
      ...due.map((document) => () => this.#ask(document, signal)),
      ...containers.map((each) => () => this.#allHeard([each], signal)),
    ];
    await inTurn(asks, (ask) => ask());
    if (failure) throw failure;
  }

  async #ask(document: Document, signal: AbortSignal): Promise<void> {
    const { archive, journal } = this.#context;
    let item;
    try {
      item = await archive.document(document.documentId ?? 0, signal);
    } catch (error) {
      if (!(error instanceof ArchiveError) || !isCodeOf("document", error.code)) throw error;
      const isMissing = error.code === "DOC_NOT_EXIST";
      const notYet = () => this.#notYet(document, document.archiveStatus, error.problem);
      return void (await journal.apply(isMissing ? this.#missing(document) : notYet()));
    }
    await this.#allHeard([{ document, item }], signal);
  }

  async #allHeard(all: readonly Heard[], signal: AbortSignal): Promise<void> {
    for (const { document } of all) this.#missingSince.delete(document.id);
    const ours = await oursAmong(this.#context, all);
    const heard = ours.map(({ document, item }) => this.#heard(document, item, signal));
    const changes = (await Promise.all(heard)).flat();
    if (changes.length > 0) await this.#context.journal.apply(changes);
  }

  /** What an answer about a document changes. */
  async #heard(document: Document, item: DocumentDetail, signal: AbortSignal): Promise<Change[]> {
    const { clock, mirrors, journal, config } = this.#context;
    if (item.status !== "CONVERTED") {
      // Only those whose time has come lose patience; others were met on the way.
      return (document.dueAt ?? 0) > clock.now() ? [] : this.#notYet(document, item.status ?? null);
    }
    // Before `converted`, which is final: nobody would ask for them after a crash in between.
    if (item.digidoc) {
      await journal.setContents(document.id, await this.#contents(item.id, signal));
    }
    // Of a mirror that is not configured just now, it is decided once the mirror is back.
    const after = mirrors.get(document.mirrorId)?.settings.after.kind;
    return changeOf(document, {
      type: "converted",
      at: clock.now(),
      pages: item.pages,
      archiveBytes: item.filesize,
      digidoc: item.digidoc,
      after: after === "keep" ? null : "due",
      ...sizeRemark(document, item.filesize, config.archive.storedSize),
    });
  }

  async #contents(digidocId: number, signal: AbortSignal): Promise<Content[]> {
    const items = allDigidoc(this.#context.archive, { digidocId, paginationSize: 100 }, signal);
    return Array.fromAsync(items, ({ id, filename, filesize, pages }) => {
      return { documentId: id, filename, sizeBytes: filesize, pages };
    });
  }

  /** Asks ever more rarely; says once that it takes too long. */
  #notYet(document: Document, status: string | null, other?: Problem): Change[] {
    const { clock, config, random } = this.#context;
    const at = clock.now();
    const uploadedAt = document.uploadedAt ?? at;
    const stuck = at - uploadedAt >= config.conversion.stuckAfterMs;
    // Always the same words, so that the history tells it once.
    const message = `document ${document.documentId}, uploaded ${new Date(uploadedAt).toISOString()}, is still not CONVERTED`;
    const problem = other ?? (stuck ? { code: "CONVERSION_STUCK", message } : null);
    const dueAt = at + backoffMs(config.conversion.poll, document.polls + 2, random);
    return changeOf(document, { type: "polled", at, dueAt, status, problem });
  }

  #missing(document: Document): Change[] {
    const { clock } = this.#context;
    const message = `the archive does not know document ${document.documentId} any more`;
    const problem = { code: "DOC_NOT_EXIST", message };
    const since = this.#missingSince.get(document.id) ?? clock.monotonic();
    this.#missingSince.set(document.id, since);
    if (clock.monotonic() - since <= GRACE_MS)
      return this.#notYet(document, document.archiveStatus, problem);
    this.#missingSince.delete(document.id);
    return changeOf(document, { type: "vanished", at: clock.now(), problem });
  }
}

function changeOf({ id }: Document, event: Event): Change[] {
  return [{ type: "event", id, event, from: ["uploaded"] }];
}

/** The archive is asked what is in it: containers have their turn one after another. */
function isContainer({ status, digidoc }: DocumentDetail): boolean {
  return status === "CONVERTED" && digidoc;
}
