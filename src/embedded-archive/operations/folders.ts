import { folderDetailOf } from "../folder-table.ts";
import { pageOf, sliceOf } from "../paging.ts";
import type { ReplyFields, Call } from "./call.ts";
import { folderAsked } from "./folder.ts";

/** Endpoints, 5: list subfolders. */
export function folders(call: Call<"folders">): ReplyFields {
  const { store, asked } = call;
  const parent = folderAsked(call, asked.folderId);
  const { rows, total } = store.folders.below(parent.id, asked.sortBy, sliceOf(asked));
  return { ...pageOf(asked, total), folders: rows.map(folderDetailOf) };
}
