import type {
  ArchiveDocument,
  DocumentDetail,
  Folder,
  FolderDetail,
  PageTotals,
} from "../wire/shapes.ts";
import type { ContainedDocument } from "./archive.ts";
import { type JsonFields, UnreadableError } from "./json-fields.ts";

/** The same fields with those left out that are undefined. */
type Loose<Shape> = { [Name in keyof Shape]: Shape[Name] | undefined };

function present<Shape extends object>(fields: Loose<Required<Shape>>): Shape {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Shape;
}

/**
 * Items of document lists, and what upload returns. Required is what decisions rest on: id,
 * folder, name, and a date; for the rest the document of the interface says too little to insist.
 */
export function documentDetailOf(fields: JsonFields): DocumentDetail {
  const known = knownOf(fields);
  return present<DocumentDetail>({
    ...known,
    folderId: fields.natural("folderId"),
    createdDate: known.createdDate ?? fields.integer("createdDate"),
    uploadedDate: known.uploadedDate ?? fields.integer("uploadedDate"),
  });
}

/** Items of the digidoc list: no decision rests on where they are, and since when. */
export function containedDocumentOf(fields: JsonFields): ContainedDocument {
  return present<ContainedDocument>(knownOf(fields));
}

function knownOf(fields: JsonFields): Loose<Required<ContainedDocument>> {
  const filename = fields.text("filename");
  const created = fields.optionalInteger("createdDate");
  const uploaded = fields.optionalInteger("uploadedDate");
  return {
    id: fields.identifier("id"),
    folderId: fields.optionalNatural("folderId"),
    digidocId: fields.optionalNatural("digidocId"),
    digidoc: fields.optionalFlag("digidoc") ?? false,
    documentName: fields.optionalText("documentName") ?? filename.replace(/(?<=.)\.[^.]*$/, ""),
    filename,
    createdDate: created ?? uploaded,
    uploadedDate: uploaded ?? created,
    pages: fields.optionalNatural("pages") ?? 0,
    filesize: fields.optionalNatural("filesize") ?? 0,
    status: fields.optionalText("status"),
  };
}

/** Result of document info. */
export function documentOf(fields: JsonFields): ArchiveDocument {
  return {
    ...documentDetailOf(fields),
    ...present<Omit<ArchiveDocument, keyof DocumentDetail>>({
      title: fields.optionalText("title"),
      author: fields.optionalText("author"),
      producer: fields.optionalText("producer"),
      description: fields.optionalText("description"),
      modifiedDate: fields.optionalInteger("modifiedDate"),
      viewedTally: fields.optionalNatural("viewedTally"),
      downloadedTally: fields.optionalNatural("downloadedTally"),
    }),
  };
}

/** Items of folder lists and of search. */
export function folderDetailOf(fields: JsonFields): FolderDetail {
  const root = fields.optionalFlag("root") ?? false;
  return present<FolderDetail>({
    id: fields.natural("id"),
    parentId: fields.optionalNatural("parentId"),
    // The root is known by its flag, and nobody asks for it by a name.
    name: fields.optionalText("name") ?? (root ? "/" : fields.text("name")),
    createdDate: fields.optionalInteger("createdDate") ?? 0,
    root,
  });
}

/** Result of folder info. */
export function folderOf(fields: JsonFields): Folder {
  return {
    ...folderDetailOf(fields),
    ...present<Omit<Folder, keyof FolderDetail>>({
      index: fields.optionalText("index"),
      month: fields.optionalInteger("month"),
      year: fields.optionalInteger("year"),
      description: fields.optionalText("description"),
      keywords: fields.optionalText("keywords"),
      expireDate: fields.optionalInteger("expireDate"),
    }),
  };
}

/** A page of a list of documents (endpoints 2 and 3); `index`: which page was asked for. */
export function documentsPageOf<Item extends ContainedDocument>(
  fields: JsonFields,
  index: number,
  read: (fields: JsonFields) => Item,
): PageTotals & { documents: Item[] } {
  const documents = fields.list("documents", read);
  return { ...pageOf(fields, index, documents.length), documents };
}

/** A page of a list of folders (endpoint 5). */
export function foldersPageOf(
  fields: JsonFields,
  index: number,
): PageTotals & { folders: FolderDetail[] } {
  const folders = fields.list("folders", folderDetailOf);
  return { ...pageOf(fields, index, folders.length), folders };
}

/** A page of search results (endpoint 1): two lists, of which one may be shorter, or empty. */
export function foundPageOf(
  fields: JsonFields,
  index: number,
): PageTotals & { documents: DocumentDetail[]; folders: FolderDetail[] } {
  const documents = fields.list("documents", documentDetailOf);
  const folders = fields.list("folders", folderDetailOf);
  const page = pageOf(fields, index, Math.max(documents.length, folders.length));
  return { ...page, documents, folders };
}

/**
 * What lists return in addition to their items. The number of pages is required: without it a first page
 * would pass for the whole list, and a document on the second for absent. It must agree with the
 * items for the same reason: of two pages or more, one that is counted and has nothing on it is no page. One
 * page with nothing on it is an empty list, as some count it. Behind the last page there is nothing, since
 * lists grow shorter while they are read.
 */
function pageOf(fields: JsonFields, index: number, items: number): PageTotals {
  const paginationPages = fields.natural("paginationPages");
  if (paginationPages === 0 && items > 0) {
    throw new UnreadableError("reply has items but no pages");
  }
  if (paginationPages > 1 && index < paginationPages && items === 0) {
    throw new UnreadableError(`reply has nothing on page ${index + 1} of ${paginationPages}`);
  }
  return { paginationPages, paginationSize: fields.optionalNatural("paginationSize") ?? items };
}
