import { documentDetailOf } from "../document-row.ts";
import { pageOf, sliceOf } from "../paging.ts";
import { Refusal } from "../refusal.ts";
import type { ReplyFields, Call } from "./call.ts";

/**
 * Endpoints, 3: list documents inside a digidoc. Its status must be CONVERTED, and the list has no
 * code for one that is not, nor for a document that is no digidoc: as digidoc documents, neither
 * exists, so both are refused with DOC_NOT_EXIST.
 */
export function digidoc({ store, account, asked }: Call<"digidoc">): ReplyFields {
  const container = store.documents.find(account.id, asked.digidocId);
  if (container?.status !== "CONVERTED" || container.digidoc !== 1)
    throw new Refusal("DOC_NOT_EXIST");
  const { rows, total } = store.documents.inDigidoc(container.id, asked.sortBy, sliceOf(asked));
  return { ...pageOf(asked, total), documents: rows.map((row) => documentDetailOf(row, true)) };
}
