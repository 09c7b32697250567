import type {
  Archive,
  DigidocQuery,
  DocumentsQuery,
  FoldersQuery,
  Paging,
  SearchQuery,
} from "../../src/archive/archive.ts";
import { ArchiveError } from "../../src/archive/archive-error.ts";
import { InvariantError } from "../../src/std/fault.ts";
import {
  type ArchiveDocument,
  type DocumentDetail,
  type Folder,
  type FolderDetail,
  LIMITS,
  type Operation,
  type PageTotals,
} from "../../src/wire/shapes.ts";

/** A request that was made, with its parameters. */
export type Asked = { readonly operation: Operation; readonly about: unknown };

/** Items of a page where none is asked for; small, so that anyone who forgets to ask is seen. */
const PAGE_SIZE = 10;

/** The size of a converted document of which a test says none: that of a row of which it says none. */
const CONVERTED_BYTES = 1_000;

/** What an operation does instead of answering: an error to throw, or something to wait for. */
type Turn = ArchiveError | Promise<void>;

/**
 * An archive in memory whose every answer a test decides. Folders may be twins; documents are added,
 * changed and removed behind the client's back; lists may be stale. Errors are scripted per
 * operation and used up in order. It knows nothing of uploads: a test puts in what was stored.
 */
export class ScriptedArchive implements Archive {
  /** Archive's clock minus ours, as a client would have learnt it. */
  clockOffsetMs: number | undefined = 0;
  /** Learnt with the next answer, where a test wants it learnt only then. */
  offsetToLearn: number | undefined;
  readonly asked: Asked[] = [];
  readonly rootId = 1;
  #nextId = 100;
  readonly #folders = new Map<number, FolderDetail>();
  readonly #documents = new Map<number, DocumentDetail>();
  readonly #unlisted = new Set<number>();
  readonly #broken = new Set<number>();
  readonly #contents = new Map<number, DocumentDetail[]>();
  readonly #turns = new Map<Operation, Turn[]>();

  constructor() {
    this.#folders.set(1, { id: 1, name: "", createdDate: 0, root: true });
  }

  /** Adds a folder, whatever else is there of its name; returns its id. */
  addFolder(name: string, parentId = this.rootId): number {
    const id = this.#nextId++;
    this.#folders.set(id, { id, parentId, name, createdDate: 0, root: false });
    return id;
  }

  /** Gives a folder another name, or another place. */
  changeFolder(id: number, set: Partial<Pick<FolderDetail, "name" | "parentId">>): void {
    const folder = this.#folders.get(id);
    if (!folder) throw new Error(`no folder ${id}`);
    this.#folders.set(id, { ...folder, ...set });
  }

  removeFolder(id: number): void {
    this.#folders.delete(id);
  }

  /** Adds a document; what is not said is as directly after upload. */
  addDocument(set: Partial<DocumentDetail> & { folderId: number; filename: string }): number {
    const id = set.id ?? this.#nextId++;
    const documentName = set.filename.replace(/\.[^.]*$/, "");
    const filesize = set.status === "CONVERTED" ? CONVERTED_BYTES : 0;
    const fresh = { digidoc: false, pages: 0, filesize, status: "UPLOADED" };
    const dates = { createdDate: 0, uploadedDate: 0 };
    this.#documents.set(id, { ...fresh, ...dates, documentName, ...set, id });
    return id;
  }

  /** Changes a document, e.g. `{ status: "CONVERTED", pages: 2 }`. */
  change(id: number, set: Partial<DocumentDetail>): void {
    const document = this.#documents.get(id);
    if (!document) throw new Error(`no document ${id}`);
    const isSized = set.status !== "CONVERTED" || document.filesize !== 0;
    const filesize = isSized ? document.filesize : CONVERTED_BYTES;
    this.#documents.set(id, { ...document, filesize, ...set });
  }

  /** The document is gone, for lists and look-ups alike. */
  vanish(id: number): void {
    this.#documents.delete(id);
  }

  /** Lists do not show the document (yet), look-ups do. */
  unlist(id: number, isUnlisted = true): void {
    if (isUnlisted) this.#unlisted.add(id);
    else this.#unlisted.delete(id);
  }

  /** Questions about the document itself fail, lists go on showing it. */
  break(id: number, isBroken = true): void {
    if (isBroken) this.#broken.add(id);
    else this.#broken.delete(id);
  }

  /** What a digidoc document contains. */
  setContents(digidocId: number, filenames: readonly string[]): void {
    const items = filenames.map((filename, index) => ({
      id: digidocId * 1e4 + index,
      folderId: 0,
      digidocId,
      digidoc: false,
      filename,
      documentName: filename,
      createdDate: 0,
      uploadedDate: index,
      pages: 1,
      filesize: 10,
    }));
    this.#contents.set(digidocId, items);
  }

  /** The next requests of this operation fail with these, one each. */
  fail(operation: Operation, ...errors: ArchiveError[]): void {
    this.#turnsOf(operation).push(...errors);
  }

  /** The next request of this operation is answered only once the returned function is called. */
  stall(operation: Operation): () => void {
    const stalled = Promise.withResolvers<void>();
    this.#turnsOf(operation).push(stalled.promise);
    return stalled.resolve;
  }

  /** Requests of this operation, or of all. */
  count(operation?: Operation): number {
    return this.asked.filter((asked) => !operation || asked.operation === operation).length;
  }

  /** Forgets the requests made so far; returns how many there were. */
  forgetAsked(): number {
    return this.asked.splice(0).length;
  }

  async documents(query: DocumentsQuery, signal: AbortSignal) {
    await this.#ask("documents", query, signal);
    const folderId = query.folderId ?? this.rootId;
    this.#assertFolder(folderId);
    const items = [...this.#documents.values()].filter(
      (item) => item.folderId === folderId && !this.#unlisted.has(item.id),
    );
    const { items: documents, ...page } = pageOf("documents", byUpload(items, query), query);
    return { ...page, documents };
  }

  async digidoc(query: DigidocQuery, signal: AbortSignal) {
    await this.#ask("digidoc", query, signal);
    this.#assertDocument(query.digidocId);
    const contents = this.#contents.get(query.digidocId) ?? [];
    const { items: documents, ...page } = pageOf("digidoc", byUpload(contents, query), query);
    return { ...page, documents };
  }

  async document(id: number, signal: AbortSignal): Promise<ArchiveDocument> {
    await this.#ask("document", id, signal);
    return this.#assertDocument(id);
  }

  async folders(query: FoldersQuery, signal: AbortSignal) {
    await this.#ask("folders", query, signal);
    const parentId = query.folderId ?? this.rootId;
    this.#assertFolder(parentId);
    const items = [...this.#folders.values()].filter((item) => item.parentId === parentId);
    const { items: folders, ...page } = pageOf("folders", items, query);
    return { ...page, folders };
  }

  async folder(id: number | undefined, signal: AbortSignal): Promise<Folder> {
    await this.#ask("folder", id, signal);
    return this.#assertFolder(id ?? this.rootId);
  }

  /** By name alone, the newest first, whatever the query's order: nobody else asks. */
  async search(query: SearchQuery, signal: AbortSignal) {
    await this.#ask("search", query, signal);
    const items = [...this.#documents.values()].filter(
      (item) =>
        (query.docFilename ?? item.filename) === item.filename && !this.#unlisted.has(item.id),
    );
    const newest = byUpload(items, { sortDesc: true });
    const { items: documents, ...page } = pageOf("search", newest, query);
    return { ...page, documents, folders: [] };
  }

  async upload(): Promise<never> {
    throw new InvariantError("only readers upload");
  }

  async close(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}

  async #ask(operation: Operation, about: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted) {
      throw new ArchiveError("notSent", "SEND_ABORTED", "aborted", { cause: signal.reason });
    }
    this.asked.push({ operation, about });
    const turn = this.#turnsOf(operation).shift();
    if (turn instanceof ArchiveError) throw turn;
    await turn;
    this.clockOffsetMs ??= this.offsetToLearn;
  }

  #turnsOf(operation: Operation): Turn[] {
    const turns = this.#turns.get(operation) ?? [];
    this.#turns.set(operation, turns);
    return turns;
  }

  #assertFolder(id: number): FolderDetail {
    const folder = this.#folders.get(id);
    if (!folder) throw refused("FOLDER_NOT_EXISTS");
    return folder;
  }

  #assertDocument(id: number): DocumentDetail {
    const document = this.#documents.get(id);
    if (!document) throw refused("DOC_NOT_EXIST");
    if (this.#broken.has(id)) throw failed();
    return document;
  }
}

/** The archive answered with this code. */
export function refused(code: string): ArchiveError {
  return new ArchiveError("refused", code, `refused: ${code}`);
}

/** The archive answered that it could not. */
export function failed(): ArchiveError {
  return new ArchiveError("inDoubt", "INTERNAL_ERROR", "failed", { httpStatus: 500 });
}

/** The archive refused key or signature. */
export function unauthorized(): ArchiveError {
  const details = { httpStatus: 401, credentials: true };
  return new ArchiveError("refused", "BAD_KEY", "refused: BAD_KEY", details);
}

/** Nobody answered. */
export function unreachable(): ArchiveError {
  return new ArchiveError("notSent", "ARCHIVE_UNREACHABLE", "connection refused");
}

function byUpload(items: readonly DocumentDetail[], { sortDesc }: { sortDesc?: boolean }) {
  const sign = sortDesc ? -1 : 1;
  return items.toSorted((a, b) => sign * (a.uploadedDate - b.uploadedDate || a.id - b.id));
}

function pageOf<Item>(
  list: keyof typeof LIMITS.paginationSize,
  all: readonly Item[],
  { paginationIndex = 0, paginationSize = PAGE_SIZE }: Paging<string>,
): PageTotals & { items: Item[] } {
  if (paginationSize > LIMITS.paginationSize[list]) throw refused("INVALID_PAGINATION_SIZE");
  const from = paginationIndex * paginationSize;
  return {
    paginationSize,
    paginationPages: Math.ceil(all.length / paginationSize),
    items: all.slice(from, from + paginationSize),
  };
}
