/**
 * Any sequence of changes leaves both journals equal: SQLite's is the model of PostgreSQL's. Steps are
 * drawn as numbers and made into changes that fit what is there, so that long sequences stay mostly
 * legal; the others must be refused by both alike.
 */
import * as fc from "fast-check";
import { expect } from "vitest";
import { type Document, STATES } from "../../../src/domain/document.ts";
import { ARROWS, type Event, type EventType } from "../../../src/domain/life.ts";
import type { Change, Journal, PageQuery } from "../../../src/journal/journal.ts";
import { codeOf } from "../../../src/std/fault.ts";
import { dirOf, joinRaw, nameOf, ROOT, rawOf } from "../../../src/std/raw-path.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";
import { events, NOW, seenOf } from "../journal-desk.ts";

const PATHS = ["a", "a/b", "a/b/c", "a-b/c", "\xff/\xfe"].map((path) =>
  rawOf(Buffer.from(path, "latin1")),
);
const CODES = ["QUOTA_LIMIT", "FOLDER_MISSING", "DOUBT_AMBIGUOUS"] as const;

/** One step: what kind of change, to which row, and a number for everything else. */
type Step = { readonly kind: number; readonly row: number; readonly n: number };

const steps: fc.Arbitrary<Step[][]> = fc.array(
  fc.array(fc.record({ kind: fc.nat(11), row: fc.nat(30), n: fc.nat(1000) }), {
    minLength: 1,
    maxLength: 3,
  }),
  { maxLength: 40 },
);

/** A row is added, and an event learns about it that no arrow leads to. Few runs may meet none by chance. */
const REFUSED: Step[][] = [[{ kind: 0, row: 0, n: 0 }], [{ kind: 6, row: 0, n: 50 }]];

function eventOf(type: EventType, n: number): Event {
  const at = NOW + n;
  const dueAt = at + (n % 7);
  const problem = { code: CODES[n % CODES.length] ?? "", message: "so it was" };
  const made: { readonly [T in EventType]: Event } = {
    changed: { type: "changed", at, dueAt, seen: seenOf(n) },
    unfinished: { type: "unfinished", at, dueAt, problem },
    settled: Object.assign(events.settled(`d${n % 3}`, `/T${n % 2}`, `n${n % 3}`), {
      estimate: n % 4 || null,
    }),
    claimed: events.claimed(n % 3, at),
    // Few ids, so that one is given twice now and then.
    accepted: events.accepted(500 + (n % 40), dueAt),
    adopted: {
      type: "adopted",
      at,
      dueAt,
      documentId: 500 + (n % 40),
      folderId: n % 3,
      status: "CONVERTED",
      sentBytes: n % 2 ? 7 : null,
    },
    duplicated: {
      type: "duplicated",
      at,
      original: {
        id: n % 5,
        documentId: 500 + (n % 40),
        folderId: n % 3,
        sentName: "n",
        uploadedAt: at,
        archiveUploadedAt: n % 2 ? at : null,
        pages: n % 4,
        archiveBytes: 1,
        sentBytes: n % 3 ? 1 : null,
        digidoc: false,
      },
      remark: "the same content",
      after: n % 2 ? "due" : null,
    },
    released: { type: "released", at },
    deferred: { type: "deferred", at, dueAt, problem },
    vetoed: { type: "vetoed", at, digest: `d${n % 3}`, problem, after: n % 2 ? "due" : null },
    heldBack: { type: "heldBack", at, dueAt: n % 2 ? dueAt : null, problem },
    refused: { type: "refused", at, problem },
    inDoubt: { type: "inDoubt", at, dueAt, problem },
    looked: { type: "looked", at, dueAt },
    found: events.found(500 + (n % 40)),
    absent: { type: "absent", at, ...(n % 2 ? { problem } : {}) },
    polled: events.polled(n % 2 ? "UPLOADED" : null, at),
    converted: events.converted(n % 2 ? "due" : null),
    vanished: { type: "vanished", at, problem },
    mistaken: { type: "mistaken", at, problem },
    goesOn: { type: "goesOn", at },
    recheck: { type: "recheck", at },
    lookAgain: { type: "lookAgain", at },
  };
  return made[type];
}

/** Events that may befall `document`; only what was sent is looked for in the archive. */
function typesFor({ state, folderId }: Document): EventType[] {
  const types = Object.keys(ARROWS[state]) as EventType[];
  return folderId === null ? types.filter((type) => type !== "lookAgain") : types;
}

/** The change that `step` means for these rows, of one of these mirrors. */
function changeOf(
  { kind, row, n }: Step,
  rows: readonly Document[],
  mirrorIds: readonly number[],
): Change {
  const document = rows[row % Math.max(1, rows.length)];
  const mirrorId = mirrorIds[row % mirrorIds.length] ?? 0;
  const at = NOW + n;
  const path = PATHS[n % PATHS.length] ?? ROOT;
  if (kind === 0 || !document) {
    const place = { mirrorId, dir: dirOf(path), name: nameOf(path) };
    const isThere = (other: Document) => other.current && other.mirrorId === mirrorId;
    const current = rows.find((other) => isThere(other) && joinRaw(other.dir, other.name) === path);
    const supersedes = current?.id ?? null;
    return { type: "add", document: { ...place, seen: seenOf(n), at, dueAt: at, supersedes } };
  }
  const { id } = document;
  switch (kind) {
    case 1:
      return { type: "forget", id, at, why: "removed", restore: n % 2 === 0 };
    case 2: {
      const successor = rows.find(
        (other) =>
          other.state === "settling" && other.id !== id && other.mirrorId === document.mirrorId,
      );
      // Else none that there is: a row that the same changes add has no number yet that could be known.
      return { type: "follow", id, successor: successor?.id ?? id + 1_000_000, at };
    }
    case 3: {
      const set = [{ goneAt: at }, { after: "done" as const }, { dueAt: null }, { remark: "r" }];
      return { type: "note", id, at, why: "noted", set: set[n % set.length] ?? {} };
    }
    case 4: {
      const fingerprint = n % 3 === 0 ? null : `${n}`;
      return { type: "directory", mirrorId, dir: dirOf(path), fingerprint };
    }
    case 5: {
      const batch = {
        id: n % 4 === 0 ? "batch-1" : `b${n % 4}`,
        mirrorId,
        openedAt: at,
        joinedAt: at,
        documents: n,
      };
      return { type: "batch", batch };
    }
    default: {
      const types = typesFor(document);
      // Now and then an event that no arrow leads to.
      const type = n % 50 === 0 ? "looked" : (types[n % Math.max(1, types.length)] ?? "goesOn");
      const event = eventOf(type, n);
      const alone = ([undefined, "name", "nameAndContent"] as const)[n % 3];
      return alone ? { type: "event", id, event, alone } : { type: "event", id, event };
    }
  }
}

/** Everything a journal can be asked: about every mirror, speaking for every archive. */
async function everything(journal: Journal, idsMax: number): Promise<unknown> {
  const told: unknown[] = [await journal.mirrors(), await journal.archives()];
  for (const archiveId of [1, 2]) {
    for (const { id } of await journal.mirrors()) {
      told.push(await everythingOf(journal.of(archiveId), id, idsMax));
    }
  }
  return told;
}

async function everythingOf(journal: Journal, mirrorId: number, idsMax: number): Promise<unknown> {
  const rows = await Array.fromAsync(journal.list({}));
  const ids = Array.from({ length: idsMax }, (_, index) => index + 1);
  const each = <T, R>(items: readonly T[], ask: (item: T) => Promise<R>) =>
    Promise.all(items.map(ask));
  const due = { now: NOW + 500, limit: 5 };
  return {
    rows,
    histories: await each(ids, (id) => journal.history(id)),
    attempts: await each(ids, (id) => journal.attempts(id)),
    forgotten: await each(PATHS, (path) => journal.forgotten(mirrorId, path)),
    current: await each(PATHS, (path) => journal.currentAt(mirrorId, path)),
    listed: await each(PATHS, (path) =>
      Array.fromAsync(journal.list({ path: { mirrorId, path } })),
    ),
    pages: await each(PAGED, (query) => pagesOf(journal, query)),
    ofCode: await each(CODES, (code) => Array.fromAsync(journal.list({ code }))),
    inside: await each(PATHS, (path) => journal.rowsIn(mirrorId, dirOf(path))),
    below: await each([ROOT, ...PATHS], (path) => journal.rowsBelow(mirrorId, path)),
    directories: await journal.directories(mirrorId),
    due: await each(STATES, (state) => journal.due({ ...due, state, sizeOverBytes: 100 })),
    sent: await each(rows, ({ digest, seen }) =>
      journal.sentWith(mirrorId, digest ?? "", seen.sizeBytes),
    ),
    known: [
      ...(await journal.knownContents(
        rows.map(({ digest, seen }) => ({ digest: digest ?? "", sizeBytes: seen.sizeBytes })),
      )),
    ].sort(),
    conflicts: await each([0, 1, 2], (folderId) => journal.conflicts(folderId, "n1")),
    underWay: await journal.underWay(3),
    claimed: [...(await journal.claimed(ids.map((id) => 499 + id)))].sort(([a], [b]) => a - b),
    outstanding: await journal.outstanding(NOW + 500),
    outstandingIn: await each([0, 1, 2], (folderId) => journal.outstandingIn(folderId, 3)),
    afterDue: await journal.afterDue(NOW + 500, 3),
    held: await journal.heldWith(CODES, 4),
    smallest: await journal.smallestHeld(CODES, [mirrorId]),
    firstRuns: await journal.firstRuns(),
    moved: await journal.moved([1, 2], 3),
    afterPending: await journal.afterPending(3),
    afterFailed: await journal.afterFailed(),
    waiting: await journal.waitingFolders(),
    counted: await counted(journal),
    lastBatch: await journal.lastBatch(mirrorId),
    batches: await journal.latestBatches(3),
    inBatch: await each(["b", "batch-1"], (batch) => journal.inBatch(batch, 4)),
    uploaded: await journal.listPage({ order: "uploaded", rows: 6 }),
    usageBuckets: await journal.usageBuckets(0, NOW + 86_400_000),
  };
}

/** Kept by the writes themselves, and therefore asked after each of them. */
async function counted(journal: Journal): Promise<unknown> {
  return [await journal.counts(), await journal.waitingPages()];
}

const PAGED: readonly PageQuery[] = [
  { order: "latest", rows: 2 },
  { order: "path", rows: 2 },
  { order: "latest", states: ["held", "converted"], rows: 3 },
  { order: "path", states: ["pending"], rows: 1 },
];

/** All documents, page by page. */
async function pagesOf(journal: Journal, query: PageQuery): Promise<Document[]> {
  const found: Document[] = [];
  for (let after: number | null | undefined; after !== null; ) {
    const { documents, last } = await journal.listPage({ ...query, after });
    found.push(...documents);
    after = last;
  }
  return found;
}

/** What became of a call, whichever journal it was made to. */
async function outcomeOf(calling: Promise<unknown>): Promise<unknown> {
  try {
    return await calling;
  } catch (error) {
    return codeOf(error) ?? (error as Error).name;
  }
}

/** A place for journals of one kind. */
export type Place = AsyncDisposable & {
  /** Opens its journal: a daemon's, or a command's. */
  open(role: "owner" | "guest"): Promise<Journal>;
};

export async function comparedWithModel(
  found: () => Promise<Place>,
  numRuns: number,
): Promise<void> {
  const applied = { calls: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(steps, async (calls) => {
      const model = new MemoryJournal();
      await using place = await found();
      {
        await using journal = await place.open("owner");
        await journal.archive("legal", "https://legal");
        await model.archive("legal", "https://legal");
        const mirrorIds: number[] = [];
        for (const [archiveId, name] of [
          [1, "scans"],
          [2, "contracts"],
        ] as const) {
          mirrorIds.push((await model.of(archiveId).mirror(name, "/srv")).id);
          await journal.of(archiveId).mirror(name, "/srv");
        }
        for (const call of calls) {
          const rows = await Array.fromAsync(model.list({}));
          const changes = call.map((step) => changeOf(step, rows, mirrorIds));
          const expected = await outcomeOf(model.apply(changes));
          expect(await outcomeOf(journal.apply(changes))).toEqual(expected);
          const [{ n } = { n: 1 }] = call;
          if (n % 9 === 0) {
            const rebind = (some: Journal) => some.of(1 + (n % 2)).mirror("contracts", "/srv");
            expect(await outcomeOf(rebind(journal))).toEqual(await outcomeOf(rebind(model)));
          }
          expect(await counted(journal)).toEqual(await counted(model));
          applied.calls += 1;
          if (typeof expected === "string") applied.refused += 1;
        }
      }
      // Read by another: what the first was sending is nobody's.
      await using other = await place.open("guest");
      const idsMax = calls.length * 3;
      expect(await everything(other, idsMax)).toEqual(await everything(model, idsMax));
    }),
    { numRuns, examples: [[REFUSED]] },
  );
  // Refusals are compared too, but must not be the rule: a refused call changes nothing.
  expect(applied.refused).toBeLessThan(applied.calls / 2);
  expect(applied.refused).toBeGreaterThan(0);
}
