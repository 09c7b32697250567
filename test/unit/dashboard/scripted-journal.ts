import type { Document } from "../../../src/domain/document.ts";
import type { Journal, ListQuery } from "../../../src/journal/journal.ts";
import { isWanted } from "../../../src/journal/document-list.ts";
import { InvariantError } from "../../../src/std/invariant.ts";
import { pageOf } from "../../fakes/memory-order.ts";
import { aDocument } from "../../fixtures/a-document.ts";
import { rawOfText, ROOT } from "../../../src/std/raw-path.ts";

/** A row as the journal would give it; `name` is text. */
export function documentOf({
  name = "scan.pdf",
  ...fields
}: Partial<Omit<Document, "name" | "dir">> & { name?: string } = {}): Document {
  return aDocument({
    dir: ROOT,
    state: "pending",
    firstSeenAt: 0,
    changedAt: 0,
    dueAt: null,
    digest: null,
    sentName: null,
    batch: null,
    folderId: null,
    attempts: 0,
    sentAt: null,
    ...fields,
    name: rawOfText(name),
  });
}

/**
 * A journal over rows that the test may change at any time. It knows the questions the page asks;
 * any other, and every write, is a bug.
 */
export function scriptedJournal(rows: readonly Document[]): Journal {
  const script: Partial<Journal> = {
    mirrors: async () => [
      { id: 1, name: "scans", source: "/srv/scans", device: null, archiveId: 1 },
    ],
    counts: async () =>
      [...Map.groupBy(rows, ({ state }) => state)].map(([state, of]) => ({
        mirrorId: 1,
        state,
        documents: of.length,
        oldestAt: Math.min(...of.map(({ firstSeenAt }) => firstSeenAt)),
      })),
    withProblem: async () => [],
    listPage: async (query) => pageOf(rows, query),
    document: async (id) => rows.find((row) => row.id === id),
    inBatch: async (batch) => rows.filter((row) => row.batch === batch),
    latestBatches: async () => [],
    usageBuckets: async () => [],
    history: async () => [],
    attempts: async () => [],
    contents: async () => [],
    forgotten: async () => [],
    due: async ({ state, now, limit }) =>
      rows
        .filter((row) => row.state === state && row.dueAt !== null && row.dueAt <= now)
        .toSorted((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0))
        .slice(0, limit),
    async *list(query: ListQuery) {
      for (const row of rows) if (isWanted(row, query)) yield row;
    },
  };
  return new Proxy(script as Journal, {
    get(target, property) {
      if (property in target) return target[property as keyof Journal];
      throw new InvariantError(`the page asked the journal for ${String(property)}`);
    },
  });
}
