import type { Document, State } from "../domain/document.ts";
import { joinRaw, shown } from "../std/raw-path.ts";

/**
 * The receipt of a batch: which documents the archive has, under which id, in which folder, and with
 * what content. Made of the journal's rows alone and of nothing that passes, so that the same batch
 * makes the same receipt, byte for byte, whenever it is made.
 */

/** As many documents as a batch can have. */
export const RECEIPT_DOCUMENTS_MAX = 10_000;

/** One document of a receipt. Times are epoch milliseconds, sizes bytes. */
export type ReceiptLine = {
  /** Relative to the mirror's source. */
  readonly path: string;
  /** As it was sent. */
  readonly name: string | null;
  readonly state: State;
  readonly documentId: number | null;
  /** The folder that was sent to the archive, and the path that the document belongs in. */
  readonly folderId: number | null;
  readonly folder: string | null;
  readonly sha256: string | null;
  readonly size: number;
  /** As the archive counts them. */
  readonly pages: number | null;
  readonly seenAt: number;
  readonly sentAt: number | null;
  readonly uploadedAt: number | null;
  readonly convertedAt: number | null;
  /** True where the archive had the content already: it was not sent, and cost no page. */
  readonly duplicate: boolean;
  /** True where it was sent although it was unfinished by its format. */
  readonly unfinished: boolean;
};

/** A receipt, as `--json` and the file next to the printed one give it. */
export type Receipt = {
  readonly batch: string;
  readonly mirror: string;
  readonly openedAt: number;
  /** When the last document was CONVERTED; null while one is not. */
  readonly closedAt: number | null;
  readonly converted: number;
  readonly pages: number;
  readonly documents: readonly ReceiptLine[];
};

/** What the journal has of a batch. */
export type BatchRows = {
  readonly batch: string;
  readonly mirror: string;
  readonly documents: readonly Document[];
};

/** The receipt of a batch as far as it has come; it is closed when every document is converted. */
export function receiptOf({ batch, mirror, documents }: BatchRows): Receipt {
  const lines = documents.map(lineOf);
  const converted = lines.filter(({ state }) => state === "converted");
  const isClosed = lines.length > 0 && converted.length === lines.length;
  return {
    batch,
    mirror,
    openedAt: Math.min(...documents.map(({ firstSeenAt }) => firstSeenAt)),
    closedAt: isClosed ? Math.max(...lines.map(({ convertedAt }) => convertedAt ?? 0)) : null,
    converted: converted.length,
    pages: converted.reduce((sum, { pages }) => sum + (pages ?? 0), 0),
    documents: lines,
  };
}

function lineOf(document: Document): ReceiptLine {
  const { state, documentId, folderId, digest, seen, pages, dir, name } = document;
  const { firstSeenAt, sentAt, uploadedAt, convertedAt } = document;
  return {
    path: shown(joinRaw(dir, name)),
    name: document.sentName,
    state,
    documentId,
    folderId,
    folder: document.targetPath,
    sha256: digest,
    size: seen.sizeBytes,
    pages,
    seenAt: firstSeenAt,
    sentAt,
    uploadedAt,
    convertedAt,
    duplicate: document.duplicateOf !== null,
    unfinished: document.attributes?.unfinished === true,
  };
}

const HEADING = ["document", "state", "converted", "pages", "sha256", "file"];

/** For machines and for keeping: JSON, indented, with a line break at its end. */
export function receiptJson(receipt: Receipt): string {
  return `${JSON.stringify(receipt, null, 2)}\n`;
}

/** What spreadsheets take for a formula: no cell begins so. */
const FORMULA = /^[=+\-@]/;

/** For what is not known. */
const NONE = "none";

/** Plain text, a line a document, columns parted by tabs. */
export function receiptText(receipt: Receipt): string {
  const { batch, mirror, converted, pages, documents } = receipt;
  const lines = [
    `# batch ${batch} of mirror ${mirror}`,
    `# ${converted} of ${documents.length} documents converted, ${pages} pages`,
    HEADING.join("\t"),
    ...documents.map(textOf),
  ];
  return `${lines.join("\n")}\n`;
}

function textOf(line: ReceiptLine): string {
  const { documentId, state, convertedAt, pages, sha256, path, unfinished } = line;
  const at = convertedAt === null ? NONE : new Date(convertedAt).toISOString();
  const columns = [documentId ?? NONE, state, at, pages ?? NONE, sha256 ?? NONE, plainPath(path)];
  return [...columns, ...(unfinished ? ["unfinished by its format"] : [])].join("\t");
}

/** The same path, and no formula: `./=SUM(1).pdf`. */
function plainPath(path: string): string {
  return FORMULA.test(path) ? `./${path}` : path;
}
