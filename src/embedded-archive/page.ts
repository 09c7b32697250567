import { createHash } from "node:crypto";
import type { Context } from "./context.ts";
import type { DocumentRow } from "./document-row.ts";
import type { Account, Store } from "./store.ts";

/** Documents shown of one folder, the latest first. */
const DOCUMENTS_MAX = 200;
/** Folders shown of one account. */
const FOLDERS_MAX = 500;

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #222 }
h2 { font-size: 1.1rem; border-bottom: 1px solid #ccc; margin-top: 2rem }
h3 { font-size: 1rem; margin: 1.2rem 0 .2rem }
table { border-collapse: collapse; width: 100% }
td, th { text-align: left; padding: .15rem .8rem .15rem 0; vertical-align: top }
td.number, th.number { text-align: right }
.none { color: #777 }
`;

/** Nothing but the page's own style may load, and nothing may run. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256")
  .update(STYLE)
  .digest("base64")}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

/** A read-only page: every account's folders, and the documents in them. */
export function page(context: Context): string {
  const sections = [...context.accounts.values()].map((account) => sectionOf(context, account));
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Embedded archive</title>
<style>${STYLE}</style></head><body><h1>Embedded archive</h1>${sections.join("")}</body></html>`;
}

function sectionOf({ store, quotas }: Context, account: Account): string {
  const used = store.pagesUsed(account.id);
  const allowed = quotas.get(account.id);
  const pages = allowed === undefined ? `${used} pages used` : `${used} of ${allowed} pages used`;
  const folders = store.folders.tree(account.id);
  const tables = folders
    .slice(0, FOLDERS_MAX)
    .map(({ id, path }) => `<h3>${escaped(path)}</h3>${tableOf(store, id)}`);
  return `<h2>Account ${escaped(account.key)} <small>${pages}</small></h2>${tables.join("")}
${restOf(folders.length - tables.length, "more folders")}`;
}

function tableOf(store: Store, folderId: number): string {
  const latest = { limit: DOCUMENTS_MAX, offset: 0, descending: true };
  const { rows, total } = store.documents.inFolder(folderId, "UPLOADED_DATE", latest, Infinity);
  if (total === 0) return '<p class="none">no documents</p>';
  return `<table><tr><th>Document<th>Uploaded<th>State<th class="number">Pages<th class="number">Bytes</tr>
${rows.map(rowOf).join("")}</table>${restOf(total - rows.length, "older documents")}`;
}

function rowOf({ filename, uploaded_at, status, pages, size, digidoc }: DocumentRow): string {
  const name = `${escaped(filename)}${digidoc === 1 ? " (digidoc)" : ""}`;
  const uploaded = new Date(uploaded_at).toISOString().slice(0, 19).replace("T", " ");
  return `<tr><td>${name}<td>${uploaded}<td>${status}<td class="number">${pages}<td class="number">${size}</tr>
`;
}

function restOf(number: number, what: string): string {
  return number > 0 ? `<p class="none">and ${number} ${what}</p>` : "";
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
