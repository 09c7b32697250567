import { documentOf } from "../document-row.ts";
import { Refusal } from "../refusal.ts";
import type { ReplyFields, Call } from "./call.ts";

/** Endpoints, 4: document information, also of documents inside a digidoc. */
export function document({ store, account, asked }: Call<"document">): ReplyFields {
  const row = store.documents.find(account.id, asked.id);
  if (!row) throw new Refusal("DOC_NOT_EXIST");
  return { document: documentOf(row) };
}
