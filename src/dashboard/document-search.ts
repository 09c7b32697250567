import { setImmediate as nextTurn } from "node:timers/promises";
import PQueue from "p-queue";
import { type Document, STATES, type State } from "../domain/document.ts";
import type { DocumentReader, Registry } from "../journal/journal.ts";
import type { Clock } from "../std/clock.ts";
import { joinRaw, shown } from "../std/raw-path.ts";
import { type DocumentRecord, recordOf } from "../sync/record.ts";
import { type DocumentQuery, foldedOf, type Place } from "./document-query.ts";
import { Refusal } from "./refusal.ts";

/** What one question may take; sending goes before looking. It answers with what it found, and where to go on. */
const LOOK_MS_MAX = 60;
/** Rows of one look where their names alone are looked at, once there is nothing in the first ones. */
const NAMES = 5_000;
/** Questions that wait while one is answered. */
const WAITING_MAX = 20;

/** A part of the documents that match. */
export type Found = {
  readonly documents: readonly DocumentRecord[];
  /** False when the time was over before there were as many as asked for. */
  readonly complete: boolean;
  /** For `after`, to get the documents that follow; null: these are the last. */
  readonly next: string | null;
};

/** Rows to go through: of one state, where they are sorted by it. */
type Part = { readonly states: readonly State[] | undefined; readonly after: number | undefined };

/** Answers questions about documents from the journal, one at a time and with a bound on each. */
export class DocumentSearch {
  readonly #journal: DocumentReader & Registry;
  readonly #clock: Clock;
  readonly #queue = new PQueue({ concurrency: 1 });

  constructor(journal: DocumentReader & Registry, clock: Clock) {
    this.#journal = journal;
    this.#clock = clock;
  }

  /** Throws a `Refusal` (503) when too many are asking. */
  async find(query: DocumentQuery): Promise<Found> {
    if (this.#queue.size >= WAITING_MAX)
      throw new Refusal(503, "BUSY", "too many are asking", "Ask again in a moment.");
    return this.#queue.add(() => this.#find(query));
  }

  async #find(query: DocumentQuery): Promise<Found> {
    const endsAt = this.#clock.monotonic() + LOOK_MS_MAX;
    const names = new Map((await this.#journal.mirrors()).map(({ id, name }) => [id, name]));
    const [mirrorId] = [...names].find(([, name]) => name === query.mirror) ?? [];
    const documents: DocumentRecord[] = [];
    if (query.mirror !== undefined && mirrorId === undefined)
      return { documents, complete: true, next: null };
    for (const { states, after } of await this.#parts(query)) {
      let rows = isPlain(query) ? query.limit + 1 : undefined;
      for (let place: number | null | undefined = after; place !== null; await nextTurn()) {
        const page = await this.#journal.listPage({
          order: orderOf(query),
          after: place,
          rows,
          states,
          mirrorId,
          code: query.code,
          text: query.text,
        });
        if (query.text !== "" && page.documents.length === 0) rows = NAMES;
        for (const document of page.documents) {
          if (!isMeant(document, query)) continue;
          const last = documents.at(-1);
          if (last && documents.length === query.limit)
            return { documents, complete: true, next: nextOf(query, last.state, last.id) };
          documents.push(recordOf(document, names.get(document.mirrorId) ?? ""));
        }
        place = isBefore(page.documents.at(-1), query) ? null : page.last;
        if (place !== null && this.#clock.monotonic() > endsAt)
          return { documents, complete: false, next: nextOf(query, states?.[0], place) };
      }
    }
    return { documents, complete: true, next: null };
  }

  async #parts(query: DocumentQuery): Promise<Part[]> {
    const { states, sort, after, to } = query;
    const isPath = orderOf(query) === "path";
    if (isPath && after && !(await this.#journal.document(after.id)))
      throw new Refusal(400, "BAD_QUERY", "that place is gone", "Begin again, without `after`.");
    const before = isPath || to === undefined ? undefined : await this.#firstSeen(to);
    const behind = (place: Place | undefined) =>
      place && before !== undefined ? Math.min(place.id, before) : (place?.id ?? before);
    const wanted = states.length > 0 ? states : undefined;
    if (sort !== "state") return [{ states: wanted, after: behind(after) }];
    const all = STATES.filter((state) => wanted?.includes(state) ?? true);
    return all
      .slice(
        Math.max(
          0,
          all.findIndex((state) => state === after?.state),
        ),
      )
      .map((state) => ({
        states: [state],
        after: behind(state === after?.state ? after : undefined),
      }));
  }

  /** The id from which on all were first seen at `time` or later: ids ascend with the time. */
  async #firstSeen(time: number): Promise<number> {
    const latest = async (after?: number) =>
      (await this.#journal.listPage({ order: "latest", after, rows: 1 })).documents[0];
    let [low, high] = [0, ((await latest())?.id ?? 0) + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const document = await latest(middle + 1);
      if (document && document.firstSeenAt >= time) high = document.id;
      else low = middle + 1;
    }
    return low;
  }
}

function orderOf({ sort }: DocumentQuery): "latest" | "path" {
  return sort === "name" ? "path" : "latest";
}

/** Every row is meant: one more than is asked for tells that there are more. */
function isPlain({ text, states, mirror, code, from, to }: DocumentQuery): boolean {
  return text === "" && states.length === 0 && !mirror && !code && !from && !to;
}

function isMeant({ dir, name, firstSeenAt }: Document, query: DocumentQuery): boolean {
  const { text, from = 0, to = Infinity } = query;
  if (firstSeenAt < from || firstSeenAt >= to) return false;
  return text === "" || foldedOf(shown(joinRaw(dir, name))).includes(text);
}

/** What follows was seen before the time that is asked for. */
function isBefore(last: Document | undefined, query: DocumentQuery): boolean {
  return orderOf(query) === "latest" && last !== undefined && last.firstSeenAt < (query.from ?? 0);
}

/** For `after`. */
function nextOf({ sort }: DocumentQuery, state: State | undefined, id: number): string {
  return sort === "state" ? `${state}.${id}` : String(id);
}
