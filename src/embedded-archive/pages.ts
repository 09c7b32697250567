import { createHash, createHmac, randomBytes } from "node:crypto";
import type { FastifyInstance, FastifyReply } from "fastify";
import { Fault } from "../std/fault.ts";
import { ACTIONS, isLocal } from "./admin.ts";
import type { Context } from "./archive-context.ts";
import { sameText } from "./authentication.ts";
import { isShown, kindOfContent, sendContent } from "./content.ts";
import { METADATA, type StoredDocumentRow } from "./document-row.ts";
import type { FolderRow } from "./folder-table.ts";
import { type Fields, integer } from "./parameters.ts";
import { Refusal } from "./refusal.ts";
import type { Account, Store } from "./store.ts";
import { STEERING } from "../std/printable.ts";

/** Documents on one page of a folder. */
const DOCUMENTS_MAX = 200;
/** Folders shown of one account, and documents shown of one digidoc. */
const FOLDERS_MAX = 2_000;
const CONTENTS_MAX = 200;
/** How long the link of a preview can be followed. */
const PREVIEW_MS_MAX = 300_000;

const NOTHING = html``;

/** Every account with its allowance and its tree of folders, and how many documents are in each. */
function indexPage(context: Context): Html {
  const sections = [...context.accounts.values()].map((account) => sectionOf(context, account));
  return layout("Embedded archive", html`<h1>Embedded archive</h1>${sections}`);
}

function sectionOf({ store, settings }: Context, account: Account): Html {
  const used = store.pagesUsed(account.id);
  const allowed = store.quotaOf(account.id, settings.quotaPages);
  const folders = store.folders.tree(account.id);
  const counts = store.documents.counts(account.id, "folder_id");
  const tree = folders.slice(0, FOLDERS_MAX).map(({ id, path, depth }) => {
    const name = depth === 0 ? path : path.slice(path.lastIndexOf("/") + 1);
    const link = html`<a href="/folders/${id}" title="${path}">${name}</a>`;
    return html`<li class="d${Math.min(depth, DEPTH_MAX)}">${link} ${counts.get(id) ?? 0}</li>`;
  });
  return html`<h2>Account ${account.key} <small>${used}${allowed === undefined ? "" : ` of ${allowed}`} pages used</small></h2>
${form(account, "folders", html`<label>Folder <input name="path" placeholder="/A/B" required></label> <button>Create</button>`)}
${form(account, "quota", html`<label>Pages allowed <input name="pages" type="number" min="0" placeholder="unlimited" value="${allowed ?? ""}"></label> <button>Set</button>`)}
<ul class="tree">${tree}</ul>${more(folders.length - tree.length, "folders")}`;
}

function form({ key }: Account, action: "folders" | "quota", fields: Html): Html {
  return html`<form method="post" action="/${action}"><input type="hidden" name="account" value="${key}">${fields}</form>`;
}

/** One folder's documents, the latest first; `index` counts pages from 0. */
function folderPage({ store }: Context, folder: FolderRow, index: number): Html {
  const slice = { limit: DOCUMENTS_MAX, offset: index * DOCUMENTS_MAX, descending: true };
  const { rows, total } = store.documents.inFolder(folder.id, "UPLOADED_DATE", slice, Infinity);
  const path = store.folders.pathOf(folder.id);
  const to = (page: number, text: string, isThere: boolean) =>
    isThere ? html`<a href="/folders/${folder.id}?page=${page}">${text}</a> ` : NOTHING;
  const older = to(index + 1, "older", (index + 1) * DOCUMENTS_MAX < total);
  return layout(
    path,
    html`<p><a href="/">All folders</a></p><h1>${path}</h1><p>${total} documents</p>
${tableOf(rows)}<p>${to(index - 1, "newer", index > 0)}${older}</p>`,
  );
}

function tableOf(rows: readonly StoredDocumentRow[]): Html {
  if (rows.length === 0) return html`<p class="none">no documents here</p>`;
  const lines = rows.map(({ id, filename, uploaded_at, status, pages, size, digidoc }) => {
    const name = `${filename}${digidoc === 1 ? " (digidoc)" : ""}`;
    return html`<tr><td><a href="/documents/${id}">${name}</a><td>${momentOf(uploaded_at)}<td>${status}<td class="number">${pages}<td class="number">${size}</tr>`;
  });
  return html`<table><tr><th>Document<th>Uploaded (UTC)<th>State<th class="number">Pages<th class="number">Bytes</tr>
${lines}</table>`;
}

/** What is known of a document, with its name. */
type Fact = [string, string | number | null];

/** One document: `preview`, all that is known of it, what is inside it, and the way to its bytes. */
function documentPage({ store }: Context, row: StoredDocumentRow, preview: Html): Html {
  const path = store.folders.pathOf(row.folder_id);
  const facts: Fact[] = [
    ["Folder", path],
    ["State", row.status],
    ["Pages", row.pages],
    ["Bytes", row.size],
    ["SHA-256", row.sha256],
    ["Uploaded (UTC)", momentOf(row.uploaded_at)],
    ["Expires (UTC)", row.expire_at === null ? null : momentOf(row.expire_at)],
    ["Batch", row.batch],
    ...METADATA.map((name): Fact => [name.replace(/^./, (c) => c.toUpperCase()), row[name]]),
    ["Viewed", row.viewed_tally],
    ["Downloaded", row.downloaded_tally],
  ];
  const lines = facts.map(([name, value]) =>
    value === null || value === "" ? NOTHING : html`<tr><th>${name}<td>${value}</tr>`,
  );
  return layout(
    row.filename,
    html`<p><a href="/">All folders</a> <a href="/folders/${row.folder_id}">${path}</a></p>
<h1>${row.filename}</h1><p><a href="/documents/${row.id}/content">Download</a></p>
${preview}<table>${lines}</table>${contentsOf(store, row)}`,
  );
}

function contentsOf(store: Store, row: StoredDocumentRow): Html {
  if (row.digidoc === 0) return NOTHING;
  const slice = { limit: CONTENTS_MAX, offset: 0, descending: false };
  const { rows, total } = store.documents.inDigidoc(row.id, "NAME", slice);
  const lines = rows.map(
    ({ filename, pages, size }) =>
      html`<tr><td>${filename}<td class="number">${pages}<td class="number">${size}</tr>`,
  );
  return html`<h2>Inside (${total})</h2><table><tr><th>Document<th class="number">Pages<th class="number">Bytes</tr>
${lines}</table>${more(total - rows.length, "documents")}`;
}

function more(rest: number, what: string): Html {
  return rest > 0 ? html`<p class="none">and ${rest} more ${what}</p>` : NOTHING;
}

/** Folders deeper than this are shown no deeper. */
const DEPTH_MAX = 20;
const INDENTS = Array.from(
  { length: DEPTH_MAX },
  (_, depth) => `.d${depth + 1} { margin-left: ${(depth + 1) * 1.2}rem }`,
).join("\n");

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; color: #222 }
h2 { font-size: 1.1rem; border-bottom: 1px solid #ccc; margin-top: 2rem }
form { display: inline-block; margin: 0 1.5rem .6rem 0 }
iframe { border: 1px solid #ccc; height: 36rem; width: 100% }
a { color: #0b57a4 }
ul.tree { list-style: none; padding: 0; margin: 0 }
${INDENTS}
table { border-collapse: collapse; width: 100% }
td, th { text-align: left; padding: .15rem .8rem .15rem 0; vertical-align: top; overflow-wrap: anywhere }
td.number, th.number { text-align: right; white-space: nowrap }
.none { color: #666 }
`;

const STYLE_DIGEST = createHash("sha256").update(STYLE).digest("base64");

/** Nothing but the page's own style and previews may load, and nothing may run. */
const PAGE_POLICY =
  `default-src 'none'; style-src 'sha256-${STYLE_DIGEST}'; ` +
  "frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

function layout(title: string, content: Html): Html {
  return html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width"><style>${{ html: STYLE }}</style></head>
<body><main>${content}</main></body></html>`;
}

/** `2026-11-20 08:15:00`, UTC. */
function momentOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace("T", " ");
}

type Place = { Params: { id: string }; Querystring: Partial<Record<string, string>> };

/**
 * The pages at the archive's own address. They ask for no signature, so they are only for the machine itself.
 * They make folders and set allowances, and count views and downloads.
 */
export function addPages(app: FastifyInstance, context: Context): void {
  const { store, blobs, settings } = context;
  const key = randomBytes(32);
  const signatureOf = (id: number, until: number) =>
    createHmac("sha256", key).update(`${id}:${until}`).digest("hex");
  const documentAt = ({ id }: Place["Params"]) => {
    const row = store.documents.uploadedById(numberOf(id));
    assertFound(row);
    return row;
  };
  app.addHook("onRequest", async ({ raw }) => assertFound(isLocal(raw)));

  app.get("/", async (_request, reply) => send(reply, indexPage(context)));
  for (const action of ["folders", "quota"] as const)
    app.post(`/${action}`, async ({ body }, reply) => {
      const { pages, ...given } = Object.fromEntries((body as Fields | undefined) ?? []);
      const number = pages?.trim() === "" ? null : Number(pages);
      try {
        ACTIONS[`/${action}`](context, pages === undefined ? given : { ...given, pages: number });
      } catch (error) {
        if (!(error instanceof Refusal || error instanceof Fault)) throw error;
        const text = html`<h1>Not done</h1><p>${error.message}</p><p><a href="/">Back</a></p>`;
        return send(reply.code(400), layout("Not done", text));
      }
      return reply.redirect("/", 303);
    });
  app.get<Place>("/folders/:id", async ({ params, query }, reply) => {
    const folder = store.folders.byId(numberOf(params.id));
    assertFound(folder);
    return send(reply, folderPage(context, folder, numberOf(query.page ?? "0")));
  });
  app.get<Place>("/documents/:id", async ({ params }, reply) => {
    const { id } = documentAt(params);
    store.unhurried(() => store.documents.count(id, "viewed"));
    const row = documentAt(params);
    const kind = await kindOfContent(blobs, row);
    const until = settings.clock.now() + PREVIEW_MS_MAX;
    const link = `/documents/${id}/preview?until=${until}&signature=${signatureOf(id, until)}`;
    // Chromium shows no PDF in a frame with the attribute; the response says the same to all browsers.
    const sandbox = kind === "pdf" ? "" : " sandbox";
    const preview = html`<iframe title="Preview" src="${link}"${sandbox}></iframe>`;
    return send(reply, documentPage(context, row, isShown(kind) ? preview : NOTHING));
  });
  app.get<Place>("/documents/:id/preview", async ({ params, query }, reply) => {
    const row = documentAt(params);
    const until = numberOf(query.until ?? "");
    assertFound(settings.clock.now() < until);
    assertFound(sameText(query.signature ?? "", signatureOf(row.id, until)));
    return sendContent(blobs, row, reply, true);
  });
  app.get<Place>("/documents/:id/content", async ({ params }, reply) => {
    const row = documentAt(params);
    store.unhurried(() => store.documents.count(row.id, "downloaded"));
    return sendContent(blobs, row, reply);
  });
}

function send(reply: FastifyReply, page: Html): FastifyReply {
  return reply
    .headers({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": PAGE_POLICY,
      // Without it a form would not say which page sends it.
      "referrer-policy": "same-origin",
    })
    .send(page.html);
}

function assertFound(what: unknown): asserts what {
  if (what === undefined || what === false) throw new Refusal("NOT_FOUND", 404);
}

function numberOf(text: string): number {
  const number = integer.safeParse(text).data;
  assertFound(number !== undefined && number >= 0 && number <= 1e13);
  return number;
}

/** HTML as it is sent. */
type Html = { readonly html: string };

/** HTML with values put in: text is escaped, HTML is not, and of a list each is a line. */
function html(
  parts: TemplateStringsArray,
  ...values: (Html | readonly Html[] | string | number)[]
): Html {
  return { html: String.raw({ raw: parts }, ...values.map(markupOf)) };
}

function markupOf(value: Html | readonly Html[] | string | number): string {
  if (typeof value !== "object") return escaped(String(value));
  return "html" in value ? value.html : value.map((each) => each.html).join("\n");
}

/** Marks that turn the direction of text around show themselves. */
function escaped(text: string): string {
  return text
    .replace(STEERING, "\uFFFD")
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
