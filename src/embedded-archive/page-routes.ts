import type { FastifyInstance, FastifyReply } from "fastify";
import { sendContent } from "./content.ts";
import type { Context } from "./archive-context.ts";
import { isLocal } from "./local.ts";
import { PAGE_POLICY } from "./page-layout.ts";
import { documentPage, folderPage, indexPage } from "./pages.ts";
import { integer, MALFORMED } from "./reading.ts";
import { Refusal } from "./refusal.ts";

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
