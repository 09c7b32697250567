import type { Document, Seen, Problem } from "../domain/document.ts";
import type { Attributes } from "../domain/attributes.ts";
import { bytesOf, type RawPath, rawOf } from "../std/raw-path.ts";
import { DOCUMENTS } from "./schema.ts";

/** What SQLite stores. */
export type Cell = string | number | Buffer | null;

/** A row of `documents`, with the path of its directory. */
export type DocumentRow = { readonly [column: string]: Cell };

/** `dir` has no column of its own here: the writer turns it into `dir_id`. */
type Field = Exclude<keyof Document, "dir">;
/** Fields whose column holds the value as it is, under the field's name in the spelling of SQL. */
type Plain = { [K in Field]: Document[K] extends Cell ? K : never }[Field];

const SHAPED: {
  readonly [K in "name" | "after" | Exclude<Field, Plain>]: (
    value: Document[K],
  ) => Record<string, Cell>;
} = {
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
  after: (after) => ({ after_state: after }),
};
// The table pairs each field with its own type; iterating by name loses that pairing.
const SHAPES = new Map(Object.entries(SHAPED)) as ReadonlyMap<
  string,
  (value: unknown) => Record<string, Cell>
>;

/** The names of columns by those of their fields, as far as they were asked for. */
const NAMES = new Map<string, string>();

/** The columns of the fields that are given and not as they were `before`; `dir` is left to the caller. */
export function columnsOf(fields: Partial<Document>, before?: Document): Record<string, Cell> {
  const columns: Record<string, Cell> = {};
  for (const field of Object.keys(fields) as (keyof Document)[]) {
    const value = fields[field];
    if (field === "dir" || (before && before[field] === value)) continue;
    const shape = SHAPES.get(field);
    if (shape) Object.assign(columns, shape(value));
    else columns[nameOf(field)] = value as Cell;
  }
  return columns;
}

function nameOf(field: string): string {
  const known = NAMES.get(field);
  if (known !== undefined) return known;
  const name = field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  NAMES.set(field, name);
  return name;
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

/** What a row of the table says of which nothing is given. */
export const BLANK: Document = documentOf({
  ...Object.fromEntries(
    [...DOCUMENTS.matchAll(/^ +(\w+) +(?:INTEGER|REAL|TEXT)(?:.* DEFAULT (\d+))?/gm)].map(
      ([, column = "", value]) => [column, value === undefined ? null : Number(value)],
    ),
  ),
  dir: Buffer.alloc(0),
  name: Buffer.alloc(0),
});

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
