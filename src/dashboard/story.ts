/** Everything the journal has of one document, for those who look for a file. */
import type { AttemptRow, Content, HistoryRow } from "../journal/journal.ts";
import { oneLine } from "../report/finding-text.ts";
import { joinRaw } from "../std/raw-path.ts";
import { type DocumentRecord, recordOf } from "../sync/record.ts";
import type { DashboardOptions } from "./options.ts";
import { Refusal } from "./refusal.ts";

/** Revisions of one path that are shown; the latest ones. */
const REVISIONS_MAX = 20;
/** Lines of history that are shown, the latest ones: a document may wait for years. */
const LINES_MAX = 500;

/** What `/api/document` answers. */
export type Story = {
  readonly document: DocumentRecord;
  /** Why nothing goes on with it though nothing is wrong with itself; null where nothing keeps it. */
  readonly waits: string | null;
  /** The id of the finding that says so. */
  readonly waitsFor: string | null;
  readonly history: readonly HistoryRow[];
  readonly attempts: readonly AttemptRow[];
  readonly contents: readonly Content[];
  /** Other revisions of the same path, oldest first. */
  readonly revisions: readonly DocumentRecord[];
  /** History of rows at this path that were forgotten before they were sent. */
  readonly forgotten: readonly HistoryRow[];
};

/** Tells it; throws a `Refusal` (404) where no such row is left. */
export async function storyOf(
  { journal, waits, clock }: Pick<DashboardOptions, "journal" | "waits" | "clock">,
  id: number,
): Promise<Story> {
  const document = await journal.document(id);
  if (!document)
    throw new Refusal(404, "NO_DOCUMENT", "the journal has no such document", "Search again.");
  const { mirrorId, dir, name } = document;
  const mirror = (await journal.mirrors()).find((row) => row.id === mirrorId)?.name ?? "";
  const path = joinRaw(dir, name);
  const revisions: DocumentRecord[] = [];
  for await (const other of journal.list({ path: { mirrorId, path } })) {
    if (joinRaw(other.dir, other.name) !== path) break;
    if (other.id !== id) revisions.push(recordOf(other, mirror));
  }
  const record = recordOf(document, mirror);
  const finding = (await waits?.(record)) ?? null;
  return {
    document: record,
    waits: finding && oneLine(finding, clock.now()),
    waitsFor: finding?.id ?? null,
    history: (await journal.history(id)).slice(-LINES_MAX),
    attempts: (await journal.attempts(id)).slice(-LINES_MAX),
    contents: await journal.contents(id),
    revisions: revisions.slice(-REVISIONS_MAX),
    forgotten: (await journal.forgotten(mirrorId, path)).slice(-LINES_MAX),
  };
}
