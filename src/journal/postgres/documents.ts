/** How rows of `documents` are asked for. */
import { type DocumentRow, documentOf } from "../columns.ts";
import type { Document } from "../../domain/document.ts";
import type { Query } from "./query.ts";

/** Every query that yields documents begins like this; `n` is the row, `d` its directory. */
export const SELECT_DOCUMENT = `SELECT n.*, d.path AS dir
  FROM documents n JOIN directories d ON d.id = n.dir_id`;

/** The documents that `text` yields. */
export async function documentsOf(
  query: Query,
  text: string,
  values: readonly unknown[],
): Promise<Document[]> {
  const { rows } = await query<DocumentRow>(text, values);
  return rows.map(documentOf);
}
