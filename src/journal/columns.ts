import type { Document, Seen, Problem } from "../domain/document.ts";
import type { Attributes } from "../domain/attributes.ts";
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
  settledAt: "settled_at",
  digest: "digest",
  ignoredDigest: "ignored_digest",
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
  archiveUploadedAt: "archive_uploaded_at",
  polls: "polls",
  convertedAt: "converted_at",
  pages: "pages",
  archiveBytes: "archive_bytes",
  estimate: "estimate",
  charge: "charge",
  sentBytes: "sent_bytes",
  consecutiveFailures: "consecutive_failures",
  duplicateOf: "duplicate_of",
  supersedes: "supersedes",
  goneAt: "gone_at",
  movedFrom: "moved_from",
  movedAt: "moved_at",
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
  problem: (problem) => ({
    problem_code: problem?.code ?? null,
    problem_message: problem?.message ?? null,
  }),
  attributes: (attributes) => ({ attributes: attributes && JSON.stringify(attributes) }),
  digidoc: (digidoc) => ({ digidoc: Number(digidoc) }),
  current: (current) => ({ current: Number(current) }),
  ordinary: (ordinary) => ({ ordinary: Number(ordinary) }),
};

/** The columns of the fields that are given and not as they were `before`; `dir` is left to the caller. */
export function columnsOf(fields: Partial<Document>, before?: Document): Record<string, Cell> {
  const columns: Record<string, Cell> = {};
  for (const field of Object.keys(fields) as (keyof Document)[]) {
    const value = fields[field];
    if (field === "dir" || (before && before[field] === value)) continue;
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

/**
 * The document of a row; the row must have been read with `dir`, the directory's path. Written out field by
 * field: V8 gives objects that are made so one shape, and everything that reads them is quicker for it.
 */
export function documentOf(row: DocumentRow): Document {
  const fields: { readonly [K in keyof Document]: unknown } = {
    id: row["id"],
    mirrorId: row["mirror_id"],
    dir: rawCell(row, "dir"),
    name: rawCell(row, "name"),
    state: row["state"],
    seen: seenOf(row),
    firstSeenAt: row["first_seen_at"],
    changedAt: row["changed_at"],
    dueAt: row["due_at"],
    settledAt: row["settled_at"],
    digest: row["digest"],
    ignoredDigest: row["ignored_digest"],
    sentName: row["sent_name"],
    targetPath: row["target_path"],
    attributes: attributeOf(row["attributes"]),
    remark: row["remark"],
    batch: row["batch"],
    folderId: row["folder_id"],
    attempts: row["attempts"],
    sentAt: row["sent_at"],
    sentArchiveAt: row["sent_archive_at"],
    doubtAt: row["doubt_at"],
    looks: row["looks"],
    documentId: row["document_id"],
    archiveStatus: row["archive_status"],
    uploadedAt: row["uploaded_at"],
    archiveUploadedAt: row["archive_uploaded_at"],
    polls: row["polls"],
    convertedAt: row["converted_at"],
    pages: row["pages"],
    archiveBytes: row["archive_bytes"],
    estimate: row["estimate"],
    charge: row["charge"],
    sentBytes: row["sent_bytes"],
    digidoc: row["digidoc"] === 1,
    problem: problemOf(row["problem_code"], row["problem_message"]),
    consecutiveFailures: row["consecutive_failures"],
    duplicateOf: row["duplicate_of"],
    current: row["current"] === 1,
    supersedes: row["supersedes"],
    goneAt: row["gone_at"],
    movedFrom: row["moved_from"],
    movedAt: row["moved_at"],
    after: row["after_state"],
    afterMessage: row["after_message"],
    ordinary: row["ordinary"] === 1,
  };
  // What a column holds is stated by the tables, which the compiler cannot read.
  return fields as Document;
}

/** Written by this room alone, so it is what it was. */
function attributeOf(cell: Cell | undefined): Attributes | null {
  return typeof cell === "string" ? (JSON.parse(cell) as Attributes) : null;
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
export function problemOf(code: Cell | undefined, message: Cell | undefined): Problem | null {
  return typeof code === "string" ? { code, message: String(message ?? "") } : null;
}
