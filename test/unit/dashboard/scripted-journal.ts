import type { Document } from "../../../src/domain/document.ts";
import { OPEN_GATE } from "../../../src/domain/gate.ts";
import { SOLO_CLUSTER } from "../../../src/journal/cluster.ts";
import type { DocumentPage, Journal, ListQuery, PageQuery } from "../../../src/journal/journal.ts";
import { isWanted } from "../../../src/journal/document-list.ts";
import { InvariantError } from "../../../src/std/fault.ts";
import { aDocument } from "../../fixtures/a-document.ts";
import { joinRaw, rawOfText, ROOT } from "../../../src/std/raw-path.ts";

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
    cluster: SOLO_CLUSTER,
    archives: async () => [],
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
    gate: async () => OPEN_GATE,
    due: async ({ state, now, limit }) =>
      rows
        .filter((row) => row.state === state && row.dueAt !== null && row.dueAt <= now)
        .toSorted((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0))
        .slice(0, limit),
    async *list(query: ListQuery) {
      for (const row of rows) if (isWanted(row, query)) yield row;
    },
  };
  const journal = new Proxy(script as Journal, {
    get(target, property) {
      if (property in target) return target[property as keyof Journal];
      throw new InvariantError(`the page asked the journal for ${String(property)}`);
    },
  });
  script.of = () => journal;
  return journal;
}

/** `Journal.listPage` over these rows, which are of one mirror. */
function pageOf(rows: readonly Document[], query: PageQuery): DocumentPage {
  const { order, after = Infinity, rows: rowsMax = 500 } = query;
  const isAsked = (row: Document) => isWanted(row, query);
  if (order === "uploaded") {
    const latest = rows
      .filter(({ uploadedAt }) => uploadedAt !== null)
      .toSorted((a, b) => (b.uploadedAt ?? 0) - (a.uploadedAt ?? 0) || b.id - a.id);
    return { documents: latest.slice(0, rowsMax).filter(isAsked), last: null };
  }
  const pathOf = ({ dir, name }: Document) => joinRaw(dir, name);
  const all = rows.toSorted((a, b) =>
    order === "path" && pathOf(a) !== pathOf(b) ? (pathOf(a) < pathOf(b) ? -1 : 1) : b.id - a.id,
  );
  const from = order === "path" ? 1 + all.findIndex(({ id }) => id === after) : 0;
  const behind = order === "path" ? all.slice(from) : all.filter(({ id }) => id < (after ?? 0));
  const looked = behind.slice(0, rowsMax);
  const last = looked.length < rowsMax ? null : (looked.at(-1)?.id ?? null);
  return { documents: looked.filter(isAsked), last };
}
