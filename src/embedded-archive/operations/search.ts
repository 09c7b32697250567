import { documentDetailOf } from "../document-row.ts";
import { folderDetailOf } from "../folder-table.ts";
import { pageOf } from "../paging.ts";
import type { ReplyFields, Call } from "./call.ts";

/** Endpoints, 1: search documents and folders. */
export function search({ store, account, asked, before }: Call<"search">): ReplyFields {
  const { documents, folders, total } = store.search(account.id, asked, before);
  return {
    ...pageOf(asked, total),
    documents: documents.map((row) => documentDetailOf(row)),
    folders: folders.map(folderDetailOf),
  };
}
