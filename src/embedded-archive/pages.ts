import type { Context } from "./archive-context.ts";
import type { StoredDocumentRow } from "./document-row.ts";
import type { FolderRow } from "./folder-table.ts";
import { DEPTH_MAX, escaped, layout, momentOf } from "./page-layout.ts";
import type { Account, Store } from "./store.ts";

/** Documents on one page of a folder. */
const DOCUMENTS_MAX = 200;
/** Folders shown of one account, and documents shown of one digidoc. */
const FOLDERS_MAX = 2_000;
const CONTENTS_MAX = 200;

/** Every account with its tree of folders, and how many documents are in each. */
export function indexPage(context: Context): string {
  const sections = [...context.accounts.values()].map((account) => sectionOf(context, account));
  return layout("Embedded archive", `<h1>Embedded archive</h1>${sections.join("")}`);
}

/** One folder's documents, the latest first; `index` counts pages from 0. */
export function folderPage({ store }: Context, folder: FolderRow, index: number): string {
  const slice = { limit: DOCUMENTS_MAX, offset: index * DOCUMENTS_MAX, descending: true };
  const { rows, total } = store.documents.inFolder(folder.id, "UPLOADED_DATE", slice, Infinity);
  const path = store.folders.pathOf(folder.id);
  const to = (page: number, text: string) =>
    `<a href="/folders/${folder.id}?page=${page}">${text}</a> `;
  const newer = index > 0 ? to(index - 1, "newer") : "";
  const older = (index + 1) * DOCUMENTS_MAX < total ? to(index + 1, "older") : "";
  return layout(
    path,
    `<p><a href="/">All folders</a></p><h1>${escaped(path)}</h1><p>${total} documents</p>
${tableOf(rows)}<p>${newer}${older}</p>`,
  );
}

/** One document: all that is known of it, what is inside it, and the way to its bytes. */
export function documentPage({ store }: Context, row: StoredDocumentRow): string {
  const path = store.folders.pathOf(row.folder_id);
  const facts: [string, string | number | null][] = [
    ["Folder", path],
    ["State", row.status],
    ["Pages", row.pages],
    ["Bytes", row.size],
    ["SHA-256", row.sha256],
    ["Uploaded (UTC)", momentOf(row.uploaded_at)],
    ["Expires (UTC)", row.expire_at === null ? null : momentOf(row.expire_at)],
    ["Batch", row.batch],
    ["Title", row.title],
    ["Author", row.author],
    ["Subject", row.subject],
    ["Keywords", row.keywords],
    ["Producer", row.producer],
    ["Description", row.description],
    ["Viewed", row.viewed_tally],
    ["Downloaded", row.downloaded_tally],
  ];
  const lines = facts
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) => `<tr><th>${name}<td>${escaped(String(value))}</tr>`);
  return layout(
    row.filename,
    `<p><a href="/">All folders</a> <a href="/folders/${row.folder_id}">${escaped(path)}</a></p>
<h1>${escaped(row.filename)}</h1><p><a href="/documents/${row.id}/content">Download</a></p>
<table>${lines.join("\n")}</table>${contentsOf(store, row)}`,
  );
}

function contentsOf(store: Store, row: StoredDocumentRow): string {
  if (row.digidoc === 0) return "";
  const slice = { limit: CONTENTS_MAX, offset: 0, descending: false };
  const { rows, total } = store.documents.inDigidoc(row.id, "NAME", slice);
  const lines = rows.map(
    (inner) =>
      `<tr><td>${escaped(inner.filename)}<td class="number">${inner.pages}<td class="number">${inner.size}</tr>`,
  );
  return `<h2>Inside (${total})</h2><table><tr><th>Document<th class="number">Pages<th class="number">Bytes</tr>
${lines.join("\n")}</table>${more(total - rows.length, "documents")}`;
}

function more(rest: number, what: string): string {
  return rest > 0 ? `<p class="none">and ${rest} more ${what}</p>` : "";
}

function sectionOf({ store, quotas }: Context, account: Account): string {
  const used = store.pagesUsed(account.id);
  const allowed = quotas.get(account.id);
  const pages = allowed === undefined ? `${used} pages used` : `${used} of ${allowed} pages used`;
  const folders = store.folders.tree(account.id);
  const counts = store.holdings.folderCounts(account.id);
  const tree = folders.slice(0, FOLDERS_MAX).map(({ id, path, depth }) => {
    const name = depth === 0 ? path : path.slice(path.lastIndexOf("/") + 1);
    const link = `<a href="/folders/${id}" title="${escaped(path)}">${escaped(name)}</a>`;
    return `<li class="d${Math.min(depth, DEPTH_MAX)}">${link} ${counts.get(id) ?? 0}</li>`;
  });
  const rest = folders.length - tree.length;
  return `<h2>Account ${escaped(account.key)} <small>${pages}</small></h2>
<ul class="tree">${tree.join("\n")}</ul>${more(rest, "folders")}`;
}

function tableOf(rows: readonly StoredDocumentRow[]): string {
  if (rows.length === 0) return '<p class="none">no documents here</p>';
  return `<table><tr><th>Document<th>Uploaded (UTC)<th>State<th class="number">Pages<th class="number">Bytes</tr>
${rows.map(rowOf).join("\n")}</table>`;
}

function rowOf({
  id,
  filename,
  uploaded_at,
  status,
  pages,
  size,
  digidoc,
}: StoredDocumentRow): string {
  const name = `${escaped(filename)}${digidoc === 1 ? " (digidoc)" : ""}`;
  return `<tr><td><a href="/documents/${id}">${name}</a><td>${momentOf(uploaded_at)}<td>${status}<td class="number">${pages}<td class="number">${size}</tr>`;
}
