import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { monthStart } from "../domain/calendar.ts";
import type { Activity } from "./activity.ts";
import { type Gatehouse, isTrusted, showsToken } from "./admission.ts";
import type { Asset } from "./assets.ts";
import { ACTIONS, signedIn } from "./action-routes.ts";
import { apiDocumentOf, type ApiRoute } from "./api-document.ts";
import { INSPECTIONS } from "./inspection-routes.ts";
import { DOCUMENT_QUERY, documentQueryOf } from "./document-query.ts";
import type { DocumentSearch } from "./document-search.ts";
import type { Live } from "./live.ts";
import { METRICS_TYPE, metricsText, RunningSums } from "./metrics.ts";
import type { DashboardOptions, Health } from "./options.ts";
import { Refusal } from "./refusal.ts";
import type { Snapshot } from "./snapshot.ts";
import type { AttemptRow, Content, HistoryRow, Batches, Registry } from "../journal/journal.ts";
import { oneLine } from "../report/finding-text.ts";
import { joinRaw } from "../std/raw-path.ts";
import { type DocumentRecord, recordOf, withProbe } from "../sync/record.ts";
import { hash } from "node:crypto";
import {
  type Receipt,
  RECEIPT_DOCUMENTS_MAX,
  receiptJson,
  receiptOf,
  receiptText,
} from "../receipts/receipt.ts";
import { RECEIPT_STYLE, receiptHtml, type ReceiptLanguage } from "../receipts/receipt-html.ts";

const ONE_DOCUMENT = z.object({
  id: z
    .string()
    .regex(/^[1-9]\d{0,14}$/)
    .transform(Number),
});
const ONE_BATCH = z.object({
  batch: z.string().regex(/^[\w-]{1,36}$/),
  format: z.enum(["txt", "json", "html"]).default("txt"),
  lang: z.enum(["en", "de"]).default("en"),
});

/** The routes under `/api/` that only read. */
export const READS = [
  {
    method: "get",
    path: "/api/status",
    summary: "What `scanferry status --json` prints, with the daemon's version and health.",
  },
  {
    method: "get",
    path: "/api/activity",
    summary: "What was archived and what failed, by hour and day, and the latest batches.",
  },
  {
    method: "get",
    path: "/api/documents",
    summary: "Documents of the journal, the latest first.",
    query: DOCUMENT_QUERY,
  },
  {
    method: "get",
    path: "/api/document",
    summary: "One document with its history.",
    query: ONE_DOCUMENT,
  },
  {
    method: "get",
    path: "/api/receipt",
    summary: "The receipt of a batch.",
    query: ONE_BATCH,
    types: ["text/plain", "application/json", "text/html"],
  },
  {
    method: "get",
    path: "/api/events",
    summary: "The status, as server-sent events, whenever it changes.",
    types: ["text/event-stream"],
  },
  { method: "get", path: "/api/openapi.json", summary: "This document." },
] as const satisfies readonly ApiRoute[];

/** What the routes answer from. */
export type Sources = {
  readonly options: DashboardOptions;
  readonly gatehouse: Gatehouse;
  readonly assets: readonly Asset[];
  readonly snapshot: () => Promise<Snapshot>;
  readonly health: () => Promise<Health>;
  readonly activity: () => Promise<Activity>;
  readonly search: DocumentSearch;
  readonly live: Live;
};

/** Adds the routes that only read. */
export function addReads(app: FastifyInstance, sources: Sources): void {
  const { options, gatehouse, snapshot, health, activity, search, live } = sources;
  const { journal, clock, channels = () => [] } = options;
  const sums = { ever: new RunningSums(journal), month: new RunningSums(journal, monthStart) };
  const measured = { journal, clock, ...sums, snapshot, channels };
  addAssets(app, sources);
  app.get("/api/status", () => snapshot());
  app.get("/api/activity", () => activity());
  const document = apiDocumentOf([...READS, ...INSPECTIONS, ...ACTIONS], options.version);
  app.get("/api/openapi.json", async () => document);
  app.get("/api/documents", ({ query }) => search.find(documentQueryOf(query)));
  app.get("/api/document", ({ query }) =>
    storyOf(options, asked(ONE_DOCUMENT, query, "id: a journal id.").id),
  );
  app.get("/api/receipt", async ({ query }, reply) => {
    const hint = "batch: the id of a batch; format: txt, json or html; lang: en or de.";
    const { batch, format, lang } = asked(ONE_BATCH, query, hint);
    const { type, text } = await receiptAs({ batch, format, lang }, journal);
    reply.header("content-disposition", `inline; filename="scanferry-${batch}.${format}"`);
    if (format === "html") reply.header("content-security-policy", RECEIPT_POLICY);
    return reply.type(type).send(text);
  });
  // A HEAD of it would have no end, and keep the place of a page.
  app.get("/api/events", { exposeHeadRoute: false }, async (_, reply) => {
    // Named for proxies that would hold events back until their buffer is full.
    reply.header("x-accel-buffering", "no").type("text/event-stream");
    return reply.send(live.join());
  });
  app.get("/metrics", async (_, reply) => {
    return reply.type(METRICS_TYPE).send(await metricsText(measured));
  });
  const tell =
    (word: "healthy" | "ready") => async (request: FastifyRequest, reply: FastifyReply) => {
      const { [word]: isSo, why: reason } = await health();
      // A reason may name folders of this host, which is not for everyone.
      const why = isTrusted(request, gatehouse) ? { why: reason } : {};
      return reply
        .code(isSo ? 200 : 503)
        .type("application/json; charset=utf-8")
        .send(`${JSON.stringify({ [word]: isSo, ...why })}\n`);
    };
  app.get("/healthz", tell("healthy"));
  app.get("/readyz", tell("ready"));
}

/** The parameters of a question. Throws a `Refusal` for what cannot be meant. */
function asked<T>(schema: z.ZodType<T>, query: unknown, hint: string): T {
  const parsed = schema.safeParse(query);
  if (parsed.success) return parsed.data;
  throw new Refusal(400, "BAD_QUERY", "unusable parameters", hint);
}

function addAssets(app: FastifyInstance, { assets, gatehouse }: Sources): void {
  for (const { path, type, body } of assets) {
    app.get(path, async (request, reply) => {
      const { pass } = gatehouse;
      if (pass && showsToken(request, pass)) return signedIn(request, reply, pass);
      return reply.type(type).send(body);
    });
  }
}

/** Revisions of one path that are shown; the latest ones. */
const REVISIONS_MAX = 20;
/** Lines of history that are shown, the latest ones: a document may wait for years. */
const LINES_MAX = 500;

/** What `/api/document` answers. */
type Story = {
  readonly document: DocumentRecord;
  /** Why nothing goes on with it though nothing is wrong with itself; null where nothing keeps it. */
  readonly waits: string | null;
  /** The id of the finding that says so. */
  readonly waitsFor: string | null;
  readonly history: readonly HistoryRow[];
  readonly attempts: readonly AttemptRow[];
  readonly contents: readonly Content[];
  /** Other revisions of the same path, oldest first. */
  readonly revisions: readonly DocumentRecord[];
  /** History of rows at this path that were forgotten before they were sent. */
  readonly forgotten: readonly HistoryRow[];
};

/** Tells it; throws a `Refusal` (404) where no such row is left. */
async function storyOf(
  { journal, waits, clock }: Pick<DashboardOptions, "journal" | "waits" | "clock">,
  id: number,
): Promise<Story> {
  const document = await journal.document(id);
  if (!document)
    throw new Refusal(404, "NO_DOCUMENT", "the journal has no such document", "Search again.");
  const { mirrorId, dir, name } = document;
  const row = (await journal.mirrors()).find(({ id: each }) => each === mirrorId);
  const mirror = row?.name ?? "";
  const path = joinRaw(dir, name);
  const revisions: DocumentRecord[] = [];
  for await (const other of journal.list({ path: { mirrorId, path } })) {
    if (joinRaw(other.dir, other.name) !== path) break;
    if (other.id !== id) revisions.push(recordOf(other, mirror));
  }
  const gate = row && (await journal.of(row.archiveId).gate());
  const record = withProbe(recordOf(document, mirror), gate);
  const finding = (await waits?.(record)) ?? null;
  return {
    document: record,
    waits: finding && oneLine(finding, clock.now()),
    waitsFor: finding?.id ?? null,
    history: (await journal.history(id)).slice(-LINES_MAX),
    attempts: (await journal.attempts(id)).slice(-LINES_MAX),
    contents: await journal.contents(id),
    revisions: revisions.slice(-REVISIONS_MAX),
    forgotten: (await journal.forgotten(mirrorId, path)).slice(-LINES_MAX),
  };
}

type Format = {
  readonly type: string;
  readonly write: (receipt: Receipt, language: ReceiptLanguage) => string;
};

const FORMATS = {
  txt: { type: "text/plain; charset=utf-8", write: receiptText },
  json: { type: "application/json; charset=utf-8", write: receiptJson },
  html: { type: "text/html; charset=utf-8", write: receiptHtml },
} as const satisfies Record<string, Format>;

/** What the browser may do with a receipt: show it with its own style, and nothing else. */
const RECEIPT_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${hash("sha256", RECEIPT_STYLE, "base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Which receipt, and how. */
type ReceiptQuery = {
  readonly batch: string;
  readonly format: keyof typeof FORMATS;
  readonly lang: ReceiptLanguage;
};

/** A receipt as the page gives it. Throws a `Refusal` (404) for no such batch. */
async function receiptAs(
  { batch, format, lang }: ReceiptQuery,
  journal: Batches & Registry,
): Promise<{ readonly type: string; readonly text: string }> {
  const documents = await journal.inBatch(batch, RECEIPT_DOCUMENTS_MAX);
  const { type, write } = FORMATS[format];
  const [first] = documents;
  if (!first) {
    const hint = "See the list of batches.";
    throw new Refusal(404, "NO_BATCH", "no document is in such a batch", hint);
  }
  const mirror = (await journal.mirrors()).find(({ id }) => id === first.mirrorId)?.name ?? "";
  return { type, text: write(receiptOf({ batch, mirror, documents }), lang) };
}
