import type { FastifyReply } from "fastify";
import type { Operation } from "../wire/shapes.ts";
import type { Context } from "./archive-context.ts";
import { authenticate } from "./authentication.ts";
import { documentDetailOf, documentOf } from "./document-row.ts";
import { answer, type ReplyFields } from "./answer.ts";
import { folderDetailOf, folderOf, type FolderRow } from "./folder-table.ts";
import { type Fields, type ParameterValues, valuesOf } from "./parameters.ts";
import { Refusal } from "./refusal.ts";
import { pageOf, sliceOf } from "./slice.ts";
import type { Account, Store } from "./store.ts";

/** The operations that only read. */
export type Reading = Exclude<Operation, "upload">;

/** One authenticated request, its parameters read. */
type Call<O extends Operation> = {
  store: Store;
  account: Account;
  asked: ParameterValues<O>;
  /** Lists and searches see documents uploaded before this; Infinity unless a fault says less. */
  before: number;
};

const READINGS: { readonly [O in Reading]: (call: Call<O>) => ReplyFields } = {
  /** Endpoints, 1: search documents and folders. */
  search({ store, account, asked, before }) {
    const { documents, folders, total } = store.search(account.id, asked, before);
    return {
      ...pageOf(asked, total),
      documents: documents.map((row) => documentDetailOf(row)),
      folders: folders.map(folderDetailOf),
    };
  },

  /** Endpoints, 2: list documents in a folder. */
  documents({ store, account, asked, before }) {
    const { id } = folderAsked(store, account, asked.folderId);
    const { rows, total } = store.documents.inFolder(id, asked.sortBy, sliceOf(asked), before);
    return { ...pageOf(asked, total), documents: rows.map((row) => documentDetailOf(row)) };
  },

  /**
   * Endpoints, 3: list documents inside a digidoc. Its status must be CONVERTED, and the list has no
   * code for one that is not, nor for a document that is no digidoc: as digidoc documents, neither
   * exists, so both are refused with DOC_NOT_EXIST.
   */
  digidoc({ store, account, asked }) {
    const container = store.documents.find(account.id, asked.digidocId);
    if (container?.status !== "CONVERTED" || container.digidoc !== 1)
      throw new Refusal("DOC_NOT_EXIST");
    const { rows, total } = store.documents.inDigidoc(container.id, asked.sortBy, sliceOf(asked));
    return { ...pageOf(asked, total), documents: rows.map((row) => documentDetailOf(row, true)) };
  },

  /** Endpoints, 4: document information, also of documents inside a digidoc. */
  document({ store, account, asked }) {
    const row = store.documents.find(account.id, asked.id);
    if (!row) throw new Refusal("DOC_NOT_EXIST");
    return { document: documentOf(row) };
  },

  /** Endpoints, 5: list subfolders. */
  folders({ store, account, asked }) {
    const parent = folderAsked(store, account, asked.folderId);
    const { rows, total } = store.folders.below(parent.id, asked.sortBy, sliceOf(asked));
    return { ...pageOf(asked, total), folders: rows.map(folderDetailOf) };
  },

  /** Endpoints, 6: folder information. */
  folder({ store, account, asked }) {
    return { folder: folderOf(folderAsked(store, account, asked.id)) };
  },
};

/** Answers one request of an operation that only reads. */
export async function serveReading(
  context: Context,
  operation: Reading,
  fields: Fields,
  reply: FastifyReply,
): Promise<void> {
  const { settings, store, accounts } = context;
  const fault = context.faults.next(operation, fields);
  const work = () => {
    const now = settings.clock.now();
    const { account } = authenticate({ operation, fields, now }, accounts, settings);
    // SQLite compares an Infinity as it should: it is larger than every integer.
    const before = fault?.do === "stale" ? now - fault.youngerThanMs : Infinity;
    // The compiler cannot see that the parameters are those of the operation.
    const asked = valuesOf(operation, fields) as never;
    return READINGS[operation]({ store, account, asked, before });
  };
  await answer(reply, fault, work, context);
}

/** The folder with this id, the root when none is given; refuses with FOLDER_NOT_EXISTS. */
export function folderAsked(store: Store, account: Account, id: number | undefined): FolderRow {
  const row = store.folders.find(account.id, id ?? account.rootId);
  if (!row) throw new Refusal("FOLDER_NOT_EXISTS");
  return row;
}
