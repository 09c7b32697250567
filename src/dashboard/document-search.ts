import { setImmediate as nextTurn } from "node:timers/promises";
import PQueue from "p-queue";
import { type Document, STATES, type State } from "../domain/document.ts";
import type { Journal, ListQuery } from "../journal/journal.ts";
import type { Clock } from "../std/clock.ts";
import { type DocumentRecord, recordOf } from "../sync/record.ts";
import { type DocumentQuery, foldedOf } from "./document-query.ts";
import { Refusal } from "./refusal.ts";

/** Rows and time that one question may cost; sending goes before looking. */
type Bounds = { readonly rowsMax: number; readonly msMax: number };
const GLANCE: Bounds = { rowsMax: 20_000, msMax: 500 };
/** For a name that someone typed and wants found. */
const SEARCH: Bounds = { rowsMax: 1_000_000, msMax: 2_000 };
/** So many of the latest documents are looked at first: most people look for one of these. */
const RECENT_MAX = 1_000;
/** Of a large journal, rows of each state but `converted`: these are what is going on. */
const ROWS_OF_STATE_MAX = 1_000;
/** So often the event loop gets a turn: the journal answers without giving it one. */
const ROWS_PER_TURN = 100;
/** Questions that wait while one is answered. */
const WAITING_MAX = 20;

/** The latest documents first. */
export type Found = {
  readonly documents: readonly DocumentRecord[];
  /** False when there were too many rows to look at all of them. */
  readonly complete: boolean;
};

/** Answers questions about documents from the journal, one at a time and with a bound on each. */
export class DocumentSearch {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #queue = new PQueue({ concurrency: 1 });

  constructor(journal: Journal, clock: Clock) {
    this.#journal = journal;
    this.#clock = clock;
  }

  /** Throws a `Refusal` (503) when too many are asking. */
  async find(query: DocumentQuery): Promise<Found> {
    if (this.#queue.size >= WAITING_MAX)
      throw new Refusal(503, "BUSY", "too many are asking", "Ask again in a moment.");
    return this.#queue.add(() => this.#find(query));
  }

  async #find({ states, text, limit }: DocumentQuery): Promise<Found> {
    const names = new Map((await this.#journal.mirrors()).map(({ id, name }) => [id, name]));
    const latest = new LatestOf(limit);
    const consider = (document: Document) => {
      if (states.length > 0 && !states.includes(document.state)) return;
      const record = recordOf(document, names.get(document.mirrorId) ?? "");
      if (text === "" || foldedOf(record.path).includes(text)) latest.add(document, record);
    };
    const isGlance = text === "" && states.length === 0;
    // Of the other states there are few, and they are read whole.
    const isLatest = isGlance || text !== "" || states.includes("converted");
    const latestMax = isGlance ? limit : RECENT_MAX;
    if (isLatest) for (const row of await this.#journal.recent(latestMax)) consider(row);
    if (isGlance) return { documents: latest.records(), complete: true };
    const look = new Look(this.#journal, this.#clock, text === "" ? GLANCE : SEARCH);
    for (const { query, rowsMax } of plan(states, text)) {
      for await (const document of look.rows(query, rowsMax)) consider(document);
    }
    return { documents: latest.records(), complete: look.isComplete };
  }
}

/** A name is looked for in one walk; without one, state by state, what is going on first. */
function plan(states: readonly State[], text: string): Step[] {
  const [only, another] = states;
  if (only && !another) return [{ query: { state: only }, rowsMax: Infinity }];
  if (text !== "") return [{ query: {}, rowsMax: Infinity }];
  return STATES.filter((state) => states.includes(state))
    .toSorted((a, b) => Number(a === "converted") - Number(b === "converted"))
    .map((state) => ({
      query: { state },
      rowsMax: state === "converted" ? Infinity : ROWS_OF_STATE_MAX,
    }));
}

/** One list to go through, and how far at most. */
type Step = { readonly query: ListQuery; readonly rowsMax: number };

/** Reads rows until its bounds are reached. */
class Look {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #rowsMax: number;
  readonly #endsAt: number;
  #rows = 0;
  isComplete = true;

  constructor(journal: Journal, clock: Clock, { rowsMax, msMax }: Bounds) {
    this.#journal = journal;
    this.#clock = clock;
    this.#rowsMax = rowsMax;
    this.#endsAt = clock.monotonic() + msMax;
  }

  async *rows(query: ListQuery, rowsMax: number): AsyncGenerator<Document> {
    let rows = 0;
    for await (const document of this.#journal.list(query)) {
      if (++rows > rowsMax || this.#isOver()) {
        this.isComplete = false;
        return;
      }
      yield document;
      if (this.#rows % ROWS_PER_TURN === 0) await nextTurn();
    }
  }

  #isOver(): boolean {
    return ++this.#rows > this.#rowsMax || this.#clock.monotonic() > this.#endsAt;
  }
}

/** Keeps the few latest of many. */
class LatestOf {
  readonly #limit: number;
  readonly #known = new Set<number>();
  #kept: { readonly at: number; readonly record: DocumentRecord }[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The same document twice counts once. */
  add(document: Document, record: DocumentRecord): void {
    if (this.#known.has(document.id)) return;
    this.#known.add(document.id);
    this.#kept.push({ at: lastActivityOf(document), record });
    if (this.#kept.length >= 4 * this.#limit) this.#prune();
  }

  records(): DocumentRecord[] {
    this.#prune();
    return this.#kept.map(({ record }) => record);
  }

  #prune(): void {
    this.#kept.sort((a, b) => b.at - a.at || b.record.id - a.record.id);
    this.#kept.length = Math.min(this.#kept.length, this.#limit);
  }
}

/** When something last happened to the document, as far as its row tells. */
function lastActivityOf(document: Document): number {
  const { firstSeenAt, changedAt, sentAt, uploadedAt, convertedAt } = document;
  return Math.max(firstSeenAt, changedAt, sentAt ?? 0, uploadedAt ?? 0, convertedAt ?? 0);
}
