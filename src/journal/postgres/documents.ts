/** How rows of `documents` are asked for. */
import { type DocumentRow, documentOf } from "../columns.ts";
import type { Document } from "../../domain/document.ts";
import { POSTGRES, selectDocument } from "../dialect.ts";
import type { Query } from "./query.ts";

export const SELECT_DOCUMENT = selectDocument(POSTGRES);

/** The documents that `text` yields. */
export async function documentsOf(
  query: Query,
  text: string,
  values: readonly unknown[],
): Promise<Document[]> {
  const { rows } = await query<DocumentRow>(text, values);
  return rows.map(documentOf);
}
