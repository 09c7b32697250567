import { setImmediate as nextTurn } from "node:timers/promises";
import PQueue from "p-queue";
import { type Document, STATES, type State } from "../domain/document.ts";
import type { Journal, ListQuery } from "../journal/journal.ts";
import { isWanted } from "../journal/document-list.ts";
import type { Clock } from "../std/clock.ts";
import { type DocumentRecord, recordOf } from "../sync/record.ts";
import { type DocumentQuery, foldedOf, type Place } from "./document-query.ts";
import { Refusal } from "./refusal.ts";

/** Rows and time that one question may cost; sending goes before looking. */
type Bounds = { readonly rowsMax: number; readonly msMax: number };
const GLANCE: Bounds = { rowsMax: 20_000, msMax: 500 };
/** For a name that a user typed and wants found. */
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
  /** For `after`, to get the documents that follow; null: these are the last. */
  readonly next: string | null;
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

  async #find(asked: DocumentQuery): Promise<Found> {
    const { states, text, limit, mirror, code, from = 0, to = Infinity, after } = asked;
    const names = new Map((await this.#journal.mirrors()).map(({ id, name }) => [id, name]));
    const [mirrorId] = [...names].find(([, name]) => name === mirror) ?? [];
    if (mirror !== undefined && mirrorId === undefined)
      return { documents: [], complete: true, next: null };
    const only = { ...(mirrorId && { mirrorId }), ...(code !== undefined && { code }) };
    const latest = new LatestOf(limit, after);
    const consider = (document: Document) => {
      if (states.length > 0 && !states.includes(document.state)) return;
      if (!isWanted(document, only)) return;
      const at = lastActivityOf(document);
      if (at < from || at >= to) return;
      const record = recordOf(document, names.get(document.mirrorId) ?? "");
      if (text === "" || foldedOf(record.path).includes(text)) latest.add(document, record);
    };
    const isPlain = text === "" && states.length === 0 && Object.keys(only).length === 0;
    const isGlance = isPlain && !after && from === 0 && to === Infinity;
    // Of the other states there are few, and they are read whole.
    const isLatest = text !== "" || states.length === 0 || states.includes("converted");
    const latestMax = isGlance ? limit + 1 : RECENT_MAX;
    if (isLatest) for (const row of await this.#journal.recent(latestMax)) consider(row);
    if (isGlance) return { ...latest.found(), complete: true };
    const look = new Look(this.#journal, this.#clock, text === "" ? GLANCE : SEARCH);
    for (const { query, rowsMax } of plan(states, text, only)) {
      for await (const document of look.rows(query, rowsMax)) consider(document);
    }
    return { ...latest.found(), complete: look.isComplete };
  }
}

type Only = Pick<ListQuery, "mirrorId" | "code">;

/** A name is looked for in one walk; without one, state by state, what is going on first. */
function plan(states: readonly State[], text: string, only: Only): Step[] {
  const [state, another] = states;
  if (state && !another) return [{ query: { ...only, state }, rowsMax: Infinity }];
  // Documents with a reason have an index of their own.
  if (text !== "" || only.code !== undefined) return [{ query: only, rowsMax: Infinity }];
  return STATES.filter((one) => states.length === 0 || states.includes(one))
    .toSorted((a, b) => Number(a === "converted") - Number(b === "converted"))
    .map((one) => ({
      query: { ...only, state: one },
      rowsMax: one === "converted" ? Infinity : ROWS_OF_STATE_MAX,
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

/** Keeps the few latest of many that come after a place. */
class LatestOf {
  readonly #limit: number;
  readonly #after: Place | undefined;
  readonly #known = new Set<number>();
  #kept: { readonly at: number; readonly record: DocumentRecord }[] = [];

  constructor(limit: number, after: Place | undefined) {
    this.#limit = limit;
    this.#after = after;
  }

  /** The same document twice counts once. */
  add(document: Document, record: DocumentRecord): void {
    const at = lastActivityOf(document);
    const { at: lastAt = Infinity, id: lastId = 0 } = this.#after ?? {};
    if (at > lastAt || (at === lastAt && record.id >= lastId)) return;
    if (this.#known.has(document.id)) return;
    this.#known.add(document.id);
    this.#kept.push({ at, record });
    if (this.#kept.length >= 4 * (this.#limit + 1)) this.#prune();
  }

  found(): Pick<Found, "documents" | "next"> {
    this.#prune();
    const page = this.#kept.slice(0, this.#limit);
    const last = page.length < this.#kept.length ? page.at(-1) : undefined;
    const next = last ? `${last.at}.${last.record.id}` : null;
    return { documents: page.map(({ record }) => record), next };
  }

  /** One more than is asked for tells that there are more. */
  #prune(): void {
    this.#kept.sort((a, b) => b.at - a.at || b.record.id - a.record.id);
    this.#kept.length = Math.min(this.#kept.length, this.#limit + 1);
  }
}

/** When something last happened to the document, as far as its row tells. */
function lastActivityOf(document: Document): number {
  const { firstSeenAt, changedAt, sentAt, uploadedAt, convertedAt } = document;
  return Math.max(firstSeenAt, changedAt, sentAt ?? 0, uploadedAt ?? 0, convertedAt ?? 0);
}
