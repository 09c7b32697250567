import type { Context } from "./archive-context.ts";
import type { StoredDocumentRow } from "./document-row.ts";
import type { FolderRow } from "./folder-table.ts";
import type { Account, Store } from "./store.ts";
import { createHash } from "node:crypto";
import { STEERING } from "../std/legible.ts";
import type { FastifyInstance, FastifyReply } from "fastify";
import { isLocal } from "./local.ts";
import { integer, MALFORMED } from "./reading.ts";
import { sendContent } from "./blobs.ts";
import { Refusal } from "./refusal.ts";

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

/** Folders deeper than this are shown no deeper. */
export const DEPTH_MAX = 20;
const INDENTS = Array.from(
  { length: DEPTH_MAX },
  (_, depth) => `.d${depth + 1} { margin-left: ${(depth + 1) * 1.2}rem }`,
).join("\n");

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; color: #222 }
h2 { font-size: 1.1rem; border-bottom: 1px solid #ccc; margin-top: 2rem }
h3 { font-size: 1rem; margin: 1.2rem 0 .2rem }
a { color: #0b57a4 }
ul.tree { list-style: none; padding: 0; margin: 0 }
${INDENTS}
table { border-collapse: collapse; width: 100% }
td, th { text-align: left; padding: .15rem .8rem .15rem 0; vertical-align: top; overflow-wrap: anywhere }
td.number, th.number { text-align: right; white-space: nowrap }
.none { color: #777 }
`;

const STYLE_DIGEST = createHash("sha256").update(STYLE).digest("base64");

/**
 * Nothing but the page's own style may load, and nothing may run. Its links are followed as its own: from
 * an origin of nowhere they would be another page's.
 */
export const PAGE_POLICY =
  `default-src 'none'; style-src 'sha256-${STYLE_DIGEST}'; ` +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox allow-downloads allow-same-origin";

/** A whole page. `title` is text, `content` is HTML. */
export function layout(title: string, content: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title>
<meta name="viewport" content="width=device-width"><style>${STYLE}</style></head>
<body>${content}</body></html>`;
}

/** Text as HTML. Marks that turn the direction of text around show themselves. */
export function escaped(text: string): string {
  return text
    .replace(STEERING, "\uFFFD")
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** `2026-11-20 08:15:00`, UTC. */
export function momentOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace("T", " ");
}

type Place = { Params: { id: string }; Querystring: { page?: string } };

/**
 * The pages at the archive's own address. They ask for no signature, so they are only for the
 * machine itself; they change nothing but the totals of views and downloads.
 */
export function addPages(app: FastifyInstance, context: Context): void {
  const { store, blobs } = context;
  const html = (reply: FastifyReply, page: string) =>
    reply
      .header("content-type", "text/html; charset=utf-8")
      .header("content-security-policy", PAGE_POLICY)
      .send(page);

  app.get("/", async (request, reply) => {
    assertFound(isLocal(request.raw));
    return html(reply, indexPage(context));
  });
  app.get<Place>("/folders/:id", async (request, reply) => {
    assertFound(isLocal(request.raw));
    const folder = store.folders.byId(numberOf(request.params.id));
    assertFound(folder);
    return html(reply, folderPage(context, folder, numberOf(request.query.page ?? "0")));
  });
  app.get<Place>("/documents/:id", async (request, reply) => {
    assertFound(isLocal(request.raw));
    const id = numberOf(request.params.id);
    assertFound(store.documents.uploadedById(id));
    store.count(id, "viewed");
    const row = store.documents.uploadedById(id);
    assertFound(row);
    return html(reply, documentPage(context, row));
  });
  app.get<Place>("/documents/:id/content", async (request, reply) => {
    assertFound(isLocal(request.raw));
    const row = store.documents.uploadedById(numberOf(request.params.id));
    assertFound(row);
    store.count(row.id, "downloaded");
    return sendContent(blobs, row, reply);
  });
}

function assertFound(what: unknown): asserts what {
  if (what === undefined || what === false) throw new Refusal("NOT_FOUND", 404);
}

function numberOf(text: string): number {
  const number = integer(text);
  assertFound(number !== MALFORMED && number >= 0 && number <= 1e12);
  return number;
}
