import type { Operation } from "../../wire/shapes.ts";
import type { ParameterValues } from "../parameters.ts";
import type { Account, Store } from "../store.ts";
import { documentDetailOf, documentOf } from "../document-row.ts";
import { folderDetailOf, folderOf, type FolderRow } from "../folder-table.ts";
import { pageOf, sliceOf } from "../slice.ts";
import { Refusal } from "../refusal.ts";

/** One authenticated request of a reading operation, its parameters read. */
export type Call<O extends Operation> = {
  store: Store;
  account: Account;
  asked: ParameterValues<O>;
  /** Lists and searches see documents uploaded before this; Infinity unless a fault says less. */
  before: number;
};

/** What a reply holds in addition to `response`. */
export type ReplyFields = Record<string, unknown>;

/** Endpoints, 4: document information, also of documents inside a digidoc. */
export function document({ store, account, asked }: Call<"document">): ReplyFields {
  const row = store.documents.find(account.id, asked.id);
  if (!row) throw new Refusal("DOC_NOT_EXIST");
  return { document: documentOf(row) };
}

/** Endpoints, 5: list subfolders. */
export function folders(call: Call<"folders">): ReplyFields {
  const { store, asked } = call;
  const parent = folderAsked(call, asked.folderId);
  const { rows, total } = store.folders.below(parent.id, asked.sortBy, sliceOf(asked));
  return { ...pageOf(asked, total), folders: rows.map(folderDetailOf) };
}

/** Endpoints, 2: list documents in a folder. */
export function documents(call: Call<"documents">): ReplyFields {
  const { store, asked, before } = call;
  const folder = folderAsked(call, asked.folderId);
  const slice = sliceOf(asked);
  const { rows, total } = store.documents.inFolder(folder.id, asked.sortBy, slice, before);
  return { ...pageOf(asked, total), documents: rows.map((row) => documentDetailOf(row)) };
}

/** Endpoints, 1: search documents and folders. */
export function search({ store, account, asked, before }: Call<"search">): ReplyFields {
  const { documents, folders, total } = store.search(account.id, asked, before);
  return {
    ...pageOf(asked, total),
    documents: documents.map((row) => documentDetailOf(row)),
    folders: folders.map(folderDetailOf),
  };
}

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
