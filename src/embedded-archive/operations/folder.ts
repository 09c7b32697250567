import { type FolderRow, folderOf } from "../folder-table.ts";
import { Refusal } from "../refusal.ts";
import type { Account, Store } from "../store.ts";
import type { ReplyFields, Call } from "./call.ts";

/** Endpoints, 6: folder information. */
export function folder(call: Call<"folder">): ReplyFields {
  return { folder: folderOf(folderAsked(call, call.asked.id)) };
}

/** The folder with this id, the root when none is given; refuses with FOLDER_NOT_EXISTS. */
export function folderAsked(
  { store, account }: { store: Store; account: Account },
  id: number | undefined,
): FolderRow {
  const row = store.folders.find(account.id, id ?? account.rootId);
  if (!row) throw new Refusal("FOLDER_NOT_EXISTS");
  return row;
}
