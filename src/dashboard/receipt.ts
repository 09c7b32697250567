/** The receipt of a batch: which documents the archive has, under which id, and with what content. */
import type { Document } from "../domain/document.ts";
import type { Journal } from "../journal/journal.ts";
import { joinRaw, shown } from "../std/raw-path.ts";
import { Refusal } from "./refusal.ts";

/** As many documents as a batch can have. */
const DOCUMENTS_MAX = 10_000;

const HEADING = ["document", "state", "converted", "pages", "sha256", "file"];

/** Plain text, a line a document, columns parted by tabs. Throws a `Refusal` (404) for no such batch. */
export async function receiptOf(journal: Journal, batch: string): Promise<string> {
  const documents = await journal.inBatch(batch, DOCUMENTS_MAX);
  const [first] = documents;
  if (!first)
    throw new Refusal(
      404,
      "NO_BATCH",
      "no document is in such a batch",
      "See the list of batches.",
    );
  const mirror = (await journal.mirrors()).find(({ id }) => id === first.mirrorId)?.name ?? "";
  const converted = documents.filter(({ state }) => state === "converted");
  const pages = converted.reduce((sum, row) => sum + (row.pages ?? 0), 0);
  const lines = [
    `# batch ${batch} of mirror ${mirror}`,
    `# ${converted.length} of ${documents.length} documents converted, ${pages} pages`,
    HEADING.join("\t"),
    ...documents.map(lineOf),
  ];
  return `${lines.join("\n")}\n`;
}

function lineOf(document: Document): string {
  const { documentId, state, convertedAt, pages, digest, dir, name } = document;
  const at = convertedAt === null ? "-" : new Date(convertedAt).toISOString();
  const path = shown(joinRaw(dir, name));
  return [documentId ?? "-", state, at, pages ?? "-", digest ?? "-", path].join("\t");
}
