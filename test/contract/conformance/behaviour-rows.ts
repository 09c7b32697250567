import { CODES } from "../../../src/wire/codes.ts";
import type { Operation } from "../../../src/wire/shapes.ts";
import { outcomeOf, type RemoteArchive, type Reply } from "./remote-archive.ts";

type Item = Record<string, unknown> & { id: number };

/** What the rows ask about: documents that lie in the archive, converted. */
export type Ground = {
  readonly archive: RemoteArchive;
  /** Where the documents lie; rows upload nothing elsewhere. */
  readonly folderId: string;
  readonly pdf: { readonly id: string; readonly bytes: number; readonly uploaded: Item };
  readonly digidoc: { readonly id: string };
};

/**
 * A statement of the interface document. `holds` resolves with undefined, or with what is otherwise.
 * `required`: the document says so; the others are what it suggests.
 */
export type BehaviourRow = {
  readonly reference: string;
  readonly claim: string;
  readonly required: boolean;
  readonly holds: (ground: Ground) => Promise<string | undefined>;
};

const fail = (is: boolean, what: unknown): string | undefined =>
  is ? undefined : (JSON.stringify(what) ?? "nothing").slice(0, 300);
const row = (
  reference: string,
  claim: string,
  holds: BehaviourRow["holds"],
  required = true,
): BehaviourRow => ({ reference, claim, required, holds });

const items = ({ body }: Reply, kind = "documents") => (body[kind] ?? []) as Item[];
const codeOf = (reply: Reply): string => {
  const description = outcomeOf(reply);
  return typeof description === "string" ? description : JSON.stringify(description);
};

const LISTS: [Operation, string, (ground: Ground) => Record<string, string>][] = [
  ["search", "documents", () => ({})],
  ["documents", "documents", ({ folderId }) => ({ folderId })],
  ["digidoc", "documents", ({ digidoc }) => ({ digidocId: digidoc.id })],
  ["folders", "folders", () => ({})],
];

const typed = (type: string, names: string): Record<string, string> =>
  Object.fromEntries(names.split(" ").map((name) => [name, type]));
const DETAIL = {
  ...typed("number", "id folderId createdDate uploadedDate pages filesize"),
  ...typed("string", "documentName filename"),
  digidoc: "boolean",
};
const DOCUMENT = {
  ...DETAIL,
  ...typed("string", "title author producer description"),
  ...typed("number", "modifiedDate viewedTally downloadedTally"),
};
const FOLDER = { id: "number", name: "string", createdDate: "number", root: "boolean" };

/** Names of fields that are missing or of another type. */
function wrongFields(item: Item | undefined, types: Record<string, string>): string[] {
  return Object.entries(types)
    .filter(([name, type]) => typeof item?.[name] !== type)
    .map(([name]) => name);
}

const fields = (
  reference: string,
  what: string,
  types: Record<string, string>,
  find: (ground: Ground) => Promise<Item | undefined>,
) =>
  row(reference, `${what} has every field, of its type`, async (ground) => {
    const wrong = wrongFields(await find(ground), types);
    return fail(wrong.length === 0, wrong);
  });

export const BEHAVIOUR_ROWS: readonly BehaviourRow[] = [
  row(
    "Common conventions, 3",
    "replies are application/json;charset=UTF-8",
    async ({ archive }) => {
      const { type } = await archive.ask("folder");
      return fail(/^application\/json; ?charset=utf-8$/i.test(type ?? ""), type);
    },
  ),
  row("Common conventions, 4", "OK has no responseDescription", async ({ archive }) => {
    const { body } = await archive.ask("folder");
    return fail(body.response === "OK" && !("responseDescription" in body), body);
  }),
  row("Common conventions, 4", "an ERROR carries exactly one code", async ({ archive }) => {
    const reply = await archive.ask("search", { sortBy: "SIZE", pagesEnd: "x" });
    const named = CODES.search.filter((code) => codeOf(reply).includes(code));
    return fail(reply.body.response === "ERROR" && named.length === 1, reply.body);
  }),
  row(
    "Errors, 5",
    "responseDescription is the bare code",
    async ({ archive }) => {
      const reply = await archive.ask("folder", { id: "x" });
      return fail(outcomeOf(reply) === "INVALID_FOLDER_ID", reply.body);
    },
    false,
  ),
  ...LISTS.map(([operation, kind, place]) =>
    row(
      "Common conventions, 7",
      `${operation}: paginationPages follows from the number of items`,
      async (ground) => {
        const ask = (more: Record<string, string>) =>
          ground.archive.ask(operation, { ...place(ground), ...more });
        const single = await ask({ paginationSize: "1" });
        const pages = Number(single.body["paginationPages"]);
        const last = await ask({
          paginationSize: "1",
          paginationIndex: String(Math.max(0, pages - 1)),
        });
        const shown = operation === "search" ? 1 : items(last, kind).length;
        const { paginationSize } = single.body;
        return fail(paginationSize === 1 && (pages === 0 || shown === 1), single.body);
      },
    ),
  ),
  fields(
    "Resources, DocumentDetail",
    "an item of a list",
    { ...DETAIL, status: "string" },
    async ({ archive, folderId, pdf }) =>
      items(await archive.ask("documents", { folderId, sortDesc: "true" })).find(
        ({ id }) => String(id) === pdf.id,
      ),
  ),
  fields(
    "Resources, Document",
    "document info",
    { ...DOCUMENT, status: "string" },
    async ({ archive, pdf }) =>
      (await archive.ask("document", { id: pdf.id })).body["document"] as Item,
  ),
  row("Endpoints 4, id", "document info shows the document that was asked for", async (ground) => {
    const { archive, pdf } = ground;
    const { document } = (await archive.ask("document", { id: pdf.id })).body as { document: Item };
    return fail(
      String(document.id) === pdf.id && document["filename"] === "conformance.pdf",
      document,
    );
  }),
  fields(
    "Resources, Folder",
    "folder info",
    FOLDER,
    async ({ archive, folderId }) =>
      (await archive.ask("folder", { id: folderId })).body["folder"] as Item,
  ),
  fields(
    "Endpoints 3",
    "an item of the digidoc list",
    { ...DETAIL, digidocId: "number" },
    async ({ archive, digidoc }) =>
      items(await archive.ask("digidoc", { digidocId: digidoc.id }))[0],
  ),
  row(
    "Resources, DocumentDetail",
    "status is absent in items of the digidoc list",
    async ({ archive, digidoc }) => {
      const [item] = items(await archive.ask("digidoc", { digidocId: digidoc.id }));
      return fail(item !== undefined && !("status" in item), item);
    },
  ),
  row(
    "Endpoints 3",
    "what is inside a digidoc refers to it by digidocId",
    async ({ archive, digidoc }) => {
      const inside = items(await archive.ask("digidoc", { digidocId: digidoc.id }));
      return fail(
        inside.length === 2 && inside.every((item) => String(item["digidocId"]) === digidoc.id),
        inside,
      );
    },
  ),
  row(
    "States and transitions",
    "upload returns UPLOADED with pages 0 and filesize 0",
    async ({ pdf }) => {
      const { status, pages, filesize } = pdf.uploaded;
      return fail(status === "UPLOADED" && pages === 0 && filesize === 0, pdf.uploaded);
    },
  ),
  row(
    "States and transitions",
    "an upload becomes CONVERTED with its pages and its size",
    async ({ archive, pdf }) => {
      const { document } = (await archive.ask("document", { id: pdf.id })).body as {
        document: Item;
      };
      return fail(
        document["status"] === "CONVERTED" &&
          document["pages"] === 3 &&
          document["filesize"] === pdf.bytes,
        document,
      );
    },
  ),
  row(
    "Endpoints 7, metadata",
    "metadata that was sent replaces the file's",
    async ({ archive, pdf }) => {
      const { document } = (await archive.ask("document", { id: pdf.id })).body as {
        document: Item;
      };
      return fail(
        document["title"] === "Sent with it" && document["author"] === "Its author",
        document,
      );
    },
  ),
  row("Endpoints 7, file", "without a file it is NO_FILE_DATA", async ({ archive, folderId }) => {
    const reply = await archive.ask("upload", { filename: "conformance.txt", folderId });
    return fail(codeOf(reply).includes("NO_FILE_DATA"), reply.body);
  }),
  row(
    "Endpoints 2",
    "document list sorts by UPLOADED_DATE, ascending",
    async ({ archive, folderId }) => {
      const dates = items(await archive.ask("documents", { folderId })).map((item) =>
        Number(item["uploadedDate"]),
      );
      return fail(
        dates.every((date, at) => date >= (dates[at - 1] ?? 0)),
        dates,
      );
    },
  ),
  row(
    "Endpoints 2, folderId",
    "documents inside a digidoc are in no folder's list",
    async ({ archive, folderId }) => {
      const listed = items(await archive.ask("documents", { folderId, paginationSize: "10000" }));
      return fail(
        listed.every((item) => !("digidocId" in item)),
        listed.length,
      );
    },
    false,
  ),
  row("Endpoints 1, docTitle", "search finds a title", async ({ archive, pdf }) => {
    const found = items(
      await archive.ask("search", { docTitle: "Sent with it", paginationSize: "10000" }),
    );
    return fail(
      found.some(({ id }) => String(id) === pdf.id),
      found.length,
    );
  }),
  row(
    "Endpoints 1, queryContent",
    "search finds words of the content, and leaves them out when told so",
    async ({ archive, pdf }) => {
      const ask = async (queryContent: string) =>
        items(await archive.ask("search", { query: "kumquatconformance", queryContent })).some(
          ({ id }) => String(id) === pdf.id,
        );
      const [within, without] = [await ask("true"), await ask("false")];
      return fail(within && !without, { within, without });
    },
    false,
  ),
  row("Endpoints 1, pagesStart", "ranges are inclusive at both ends", async ({ archive, pdf }) => {
    const asked = {
      docTitle: "Sent with it",
      pagesStart: "3",
      pagesEnd: "3",
      paginationSize: "10000",
    };
    return fail(
      items(await archive.ask("search", asked)).some(({ id }) => String(id) === pdf.id),
      asked,
    );
  }),
  row("Endpoints 6, id", "without an id the root is shown", async ({ archive }) => {
    const { folder } = (await archive.ask("folder")).body as { folder: Item };
    return fail(folder["root"] === true, folder);
  }),
  row("Authentication", "a wrong signature is refused", async ({ archive }) => {
    const wrong = { ...archive.credentials, secret: `${archive.credentials.secret}x` };
    const reply = await archive.ask("folder", {}, wrong);
    return fail(reply.body.response === "ERROR", reply.body);
  }),
  row("Authentication", "an unknown key is refused", async ({ archive }) => {
    const reply = await archive.ask("folder", {}, { key: "no-such-key", secret: "x" });
    return fail(reply.body.response === "ERROR", reply.body);
  }),
];
