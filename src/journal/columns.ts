import type { AfterState, Document, Seen, State, Trouble } from "../domain/document.ts";
import type { Slip } from "../domain/slip.ts";
import { bytesOf, type RawPath, rawOf } from "../std/raw-path.ts";

/** What SQLite stores. */
export type Cell = string | number | Buffer | null;

/** A row of `documents`, with the path of its directory. */
export type DocumentRow = { readonly [column: string]: Cell };

/** Fields whose column holds the value as it is. */
const PLAIN = {
  id: "id",
  mirrorId: "mirror_id",
  state: "state",
  firstSeenAt: "first_seen_at",
  changedAt: "changed_at",
  dueAt: "due_at",
  digest: "digest",
  sentName: "sent_name",
  targetPath: "target_path",
  remark: "remark",
  batch: "batch",
  folderId: "folder_id",
  attempts: "attempts",
  sentAt: "sent_at",
  sentArchiveAt: "sent_archive_at",
  doubtAt: "doubt_at",
  looks: "looks",
  documentId: "document_id",
  archiveStatus: "archive_status",
  uploadedAt: "uploaded_at",
  polls: "polls",
  convertedAt: "converted_at",
  pages: "pages",
  archiveBytes: "archive_bytes",
  estimate: "estimate",
  charge: "charge",
  patience: "patience",
  duplicateOf: "duplicate_of",
  supersedes: "supersedes",
  goneAt: "gone_at",
  movedFrom: "moved_from",
  after: "after_state",
  afterMessage: "after_message",
} as const satisfies Partial<Record<keyof Document, string>>;

type Plain = keyof typeof PLAIN;
/** `dir` is absent: the writer turns it into `dir_id`. */
type Shaped = Exclude<keyof Document, Plain | "dir">;

const SHAPED: { readonly [K in Shaped]: (value: Document[K]) => Record<string, Cell> } = {
  name: (name) => ({ name: bytesOf(name) }),
  seen: (seen) => ({
    size_bytes: seen.sizeBytes,
    modified_at: seen.modifiedAt,
    stamp: seen.stamp,
  }),
  trouble: (trouble) => ({
    trouble_code: trouble?.code ?? null,
    trouble_message: trouble?.message ?? null,
  }),
  slip: (slip) => ({ slip: slip && JSON.stringify(slip) }),
  digidoc: (digidoc) => ({ digidoc: Number(digidoc) }),
  current: (current) => ({ current: Number(current) }),
};

/** The columns of the fields that are given; `dir` is left to the caller. */
export function columnsOf(fields: Partial<Document>): Record<string, Cell> {
  const columns: Record<string, Cell> = {};
  for (const [field, value] of Object.entries(fields)) {
    if (field === "dir") continue;
    if (isPlain(field)) columns[PLAIN[field]] = value as Cell;
    else {
      // The table pairs each field with its own type; iterating by name loses that pairing.
      const shape = SHAPED[field as Shaped] as (value: unknown) => Record<string, Cell>;
      Object.assign(columns, shape(value));
    }
  }
  return columns;
}

function isPlain(field: string): field is Plain {
  return Object.hasOwn(PLAIN, field);
}

const PLAIN_ENTRIES = Object.entries(PLAIN);

/** The document of a row; the row must have been read with `dir`, the directory's path. */
export function documentOf(row: DocumentRow): Document {
  const plain: Record<string, Cell> = {};
  for (const [field, column] of PLAIN_ENTRIES) plain[field] = row[column] ?? null;
  return {
    ...(plain as unknown as Pick<Document, Plain>),
    dir: rawCell(row, "dir"),
    name: rawCell(row, "name"),
    seen: seenOf(row),
    trouble: troubleOf(row["trouble_code"], row["trouble_message"]),
    slip: slipOf(row["slip"]),
    digidoc: row["digidoc"] === 1,
    current: row["current"] === 1,
    state: row["state"] as State,
    after: (row["after_state"] ?? null) as AfterState | null,
  };
}

/** Written by this room alone, so it is what it was. */
function slipOf(cell: Cell | undefined): Slip | null {
  return typeof cell === "string" ? (JSON.parse(cell) as Slip) : null;
}

function seenOf(row: DocumentRow): Seen {
  return {
    sizeBytes: row["size_bytes"] as number,
    modifiedAt: row["modified_at"] as number,
    stamp: row["stamp"] as string,
  };
}

function rawCell(row: DocumentRow, column: string): RawPath {
  return rawOf(row[column] as Buffer);
}

/** Code and message stand in two columns, both set or both null. */
export function troubleOf(code: Cell | undefined, message: Cell | undefined): Trouble | null {
  return typeof code === "string" ? { code, message: String(message ?? "") } : null;
}
