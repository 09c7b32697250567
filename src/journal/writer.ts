/**
 * The one writer of `state`: read, transition, compare-and-set. Runs within the transaction of a
 * group commit, over whatever journal's `UnitOfWork`, so that a document's row, its history and its attempt
 * are changed together or not at all. Everyone else asks by `Change`.
 */
import { DocumentIdTaken } from "./document-id-taken.ts";
import type { Document, State } from "../domain/document.ts";
import { type Event, transition } from "../domain/life.ts";
import { InvariantError, invariant } from "../std/fault.ts";
import { attemptsOf } from "./attempt-effect.ts";
import { SharedRows, type UnitOfWork } from "./unit-of-work.ts";
import {
  eventLine,
  followLine,
  forgetLine,
  isOrdinary,
  noteLine,
  ordinaryLines,
  seenLine,
  staysOrdinary,
  successorLine,
} from "./history-line.ts";
import type { Alone, Applied, Batch, Change, StampedRow } from "./journal.ts";
import {
  assertForgettable,
  checkedDue,
  followed,
  isAt,
  mayFollow,
  mayRestore,
  noted,
} from "./revision.ts";
import { countsOf } from "./document-counts.ts";
import { talliedBy } from "./usage-bucket.ts";
import { toldBy } from "./outbox-entry.ts";

type On<T extends Change["type"]> = Extract<Change, { type: T }>;
type OnDocument = On<"event" | "note" | "forget" | "follow">;

export class Writer {
  readonly #documents: UnitOfWork["documents"];
  readonly #records: UnitOfWork["records"];
  readonly #activity: UnitOfWork["activity"];
  readonly #outboxEntries: UnitOfWork["outboxEntries"];
  /** Stamps of rows that a change depends on, as they were before this set of changes. */
  readonly #stamps = new Map<number, string | undefined>();
  readonly #shared = new SharedRows();
  /** Of one set of changes, by id. */
  readonly #batches = new Map<string, Batch>();

  constructor({ documents, records, activity, outboxEntries }: UnitOfWork) {
    this.#documents = documents;
    this.#records = records;
    this.#activity = activity;
    this.#outboxEntries = outboxEntries;
  }

  /**
   * Applies a set of changes; `complete` has to follow in the same transaction, after other sets too. Throws
   * `InvariantError` for a change that no journal may take.
   */
  apply(changes: readonly Change[]): Applied[] {
    // An earlier set may have been undone.
    this.#stamps.clear();
    this.#batches.clear();
    return this.#shared.within(() => {
      const applied = changes.map((change) => this.#apply(change));
      for (const batch of this.#batches.values()) this.#activity.setBatch(batch);
      return applied;
    });
  }

  /** Writes what was applied since the last time to rows that several sets of changes share. */
  complete(): void {
    this.#shared.writeTo(this.#activity);
  }

  /** Forgets the same: the transaction is undone. */
  discard(): void {
    this.#shared.clear();
  }

  #apply(change: Change): Applied {
    switch (change.type) {
      case "add":
        return this.#add(change);
      case "batch":
        this.#batch(change.batch);
        return done(change, undefined, undefined);
      case "directory":
        this.#documents.setFingerprint(change.mirrorId, change.dir, change.fingerprint);
        return done(change, undefined, undefined);
      default:
        return this.#onDocument(change);
    }
  }

  /** A change of one row, which is read once. */
  #onDocument(change: OnDocument): Applied {
    const before = this.#documents.read(change.id);
    const { given, place } = change;
    if (given && !this.#isAsGiven(given, before)) return skipped(change, before);
    if (!before || (place && !isAt(before, place))) return skipped(change, before);
    switch (change.type) {
      case "event":
        return this.#event(change, before);
      case "note":
        return this.#note(change, before);
      case "forget":
        return this.#forget(change, before);
      case "follow":
        return this.#follow(change, before);
      default:
        change satisfies never;
        throw new InvariantError("a change of an unknown type");
    }
  }

  #isAsGiven({ id, stamp }: StampedRow, read: Document | undefined): boolean {
    if (!this.#stamps.has(id)) {
      const row = read?.id === id ? read : this.#documents.read(id);
      this.#stamps.set(id, row?.seen.stamp);
    }
    return this.#stamps.get(id) === stamp;
  }

  #add(change: On<"add">): Applied {
    const { mirrorId, dir, name, supersedes, dueAt } = change.document;
    checkedDue(0, dueAt);
    if (supersedes !== null) {
      const current = this.#documents.currentAt(mirrorId, dir, name);
      if (current?.id !== supersedes) return notAdded(change, current);
      this.#set(current, { current: false });
    }
    const document = this.#documents.insert(change.document);
    if (!document) return notAdded(change, this.#documents.currentAt(mirrorId, dir, name));
    this.#count(undefined, document);
    if (!document.ordinary)
      this.#records.write(document.id, [{ ...seenLine(document), number: 1, times: 1 }]);
    return done(change, document, undefined);
  }

  #event(change: On<"event">, before: Document): Applied {
    if (hasLeft(before, change.from)) return skipped(change, before);
    const { event } = change;
    if (!this.#mayHappen(before, event, change.alone)) return skipped(change, before);
    const patch = transition(before, event);
    if (change.unclaimed && this.#isClaimed(before, patch.documentId))
      return skipped(change, before);
    if (patch.dueAt !== undefined) checkedDue(before.id, patch.dueAt);
    if (patch.documentId !== undefined) this.#assertUnclaimed(before, event, patch.documentId);
    const document = this.#update(before, patch, change);
    const line = eventLine(before.state, document.state, event);
    if (!document.ordinary || !isOrdinary(line)) this.#records.tell(before, line);
    if (!document.ordinary) this.#records.attempt(before, document, event);
    this.#shared.use(talliedBy(before, event));
    const told = toldBy(event);
    if (told) this.#outboxEntries.add(document, told, event.at);
    return done(change, document, before);
  }

  #isClaimed(document: Document, documentId: number | null | undefined): boolean {
    return documentId != null && this.#documents.ownerOf(documentId, document) !== undefined;
  }

  /** The archive is another host: giving one id twice is its fault, not a bug of ours. */
  #assertUnclaimed(document: Document, event: Event, documentId: number | null): void {
    if (documentId === null || event.type === "duplicated") return;
    const { id, mirrorId } = document;
    const other = this.#documents.ownerOf(documentId, document);
    if (other !== undefined) throw new DocumentIdTaken(id, event.type, documentId, other);
    // What was dropped may be taken up again; a new document with its id is not ours.
    const wasKnown = this.#records.dropTombstone(documentId, mirrorId);
    if (wasKnown && event.type !== "adopted")
      throw new DocumentIdTaken(id, event.type, documentId, null);
  }

  #note(change: On<"note">, before: Document): Applied {
    if (hasLeft(before, change.from)) return skipped(change, before);
    const document = this.#update(before, noted(before, change.set), change);
    this.#records.tell(before, noteLine(before, change.at, change.why));
    return done(change, document, before);
  }

  #forget(change: On<"forget">, before: Document): Applied {
    if (hasLeft(before, change.from)) return skipped(change, before);
    assertForgettable(before);
    if (change.traceless) this.#records.drop(before.id);
    else {
      this.#depart(before);
      this.#records.tell(before, forgetLine(before, change.at, change.why));
      this.#records.rememberForgotten(before);
    }
    this.#remove(before);
    if (change.restore) this.#restore(before, change.goneAt);
    this.#documents.tidyDirectory(before.mirrorId, before.dir);
    return done(change, undefined, before);
  }

  #restore(forgotten: Document, goneAt: number | undefined): void {
    const predecessor = this.#documents.read(forgotten.supersedes ?? 0);
    if (predecessor && mayRestore(forgotten, predecessor)) {
      const gone = goneAt === undefined ? {} : { goneAt };
      this.#set(predecessor, { current: true, ...gone });
    }
  }

  #follow(change: On<"follow">, before: Document): Applied {
    const successor = this.#documents.read(change.successor);
    if (!successor) return skipped(change, before);
    const fields = followed(before, successor, change);
    if (!mayFollow(before, successor)) return skipped(change, before);
    for (const row of [before, successor]) this.#depart(row);
    this.#records.tell(before, followLine(before, successor, change.at));
    this.#records.tell(successor, successorLine(successor, before.id, change.at));
    this.#records.rememberForgotten(successor);
    this.#remove(successor);
    if (!before.current) this.#documents.unlink(before);
    const document = this.#set(before, fields);
    this.#documents.tidyDirectory(before.mirrorId, before.dir);
    return done(change, document, before);
  }

  /** Writes the row; where its life leaves the ordinary by that, what its times told so far is written down. */
  #update(before: Document, fields: Partial<Document>, change: On<"event" | "note">): Document {
    const ordinary = before.ordinary && staysOrdinary(change);
    if (!ordinary) this.#depart(before);
    return this.#set(before, { ...fields, ordinary });
  }

  #set(before: Document, fields: Partial<Document>): Document {
    const document = this.#documents.update(before, fields);
    this.#count(before, document);
    return document;
  }

  #remove(document: Document): void {
    this.#documents.delete(document);
    this.#count(document);
  }

  #count(before: Document | undefined, after?: Document): void {
    this.#shared.count(countsOf(before, after));
  }

  #depart(before: Document): void {
    if (!before.ordinary) return;
    this.#records.write(before.id, ordinaryLines(before));
    for (const attempt of attemptsOf(before, []))
      this.#records.writeAttempt(before.id, before.attempts, attempt);
  }

  #batch(batch: Batch): void {
    invariant(batch.id.length <= 36, `batch ${batch.id}: longer than 36 characters`);
    this.#batches.set(batch.id, batch);
  }

  #mayHappen(document: Document, event: Event, alone: Alone | undefined): boolean {
    return (
      event.type !== "claimed" ||
      document.state !== "pending" ||
      this.#documents.mayClaim(document, event.folderId, alone)
    );
  }
}

function hasLeft({ state }: Document, from: readonly State[] | undefined): boolean {
  return from !== undefined && !from.includes(state);
}

function done(
  change: Change,
  document: Document | undefined,
  before: Document | undefined,
): Applied {
  return { change, document, from: before?.state, skipped: false };
}

/** Another row has the path: `current`. */
function notAdded(change: Change, current: Document | undefined): Applied {
  return { change, document: current, from: undefined, skipped: true };
}

/** The change came too late: `document` is as it was. */
function skipped(change: Change, document: Document | undefined): Applied {
  return { change, document, from: document?.state, skipped: true };
}
