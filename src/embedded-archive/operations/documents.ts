import { documentDetailOf } from "../document-row.ts";
import { pageOf, sliceOf } from "../paging.ts";
import type { ReplyFields, Call } from "./call.ts";
import { folderAsked } from "./folder.ts";

/** Endpoints, 2: list documents in a folder. */
export function documents(call: Call<"documents">): ReplyFields {
  const { store, asked, before } = call;
  const folder = folderAsked(call, asked.folderId);
  const slice = sliceOf(asked);
  const { rows, total } = store.documents.inFolder(folder.id, asked.sortBy, slice, before);
  return { ...pageOf(asked, total), documents: rows.map((row) => documentDetailOf(row)) };
}
