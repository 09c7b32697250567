/**
 * The thread that looks into documents. They come from anywhere: what loops, or eats memory, does
 * so here, and the archive goes on answering. Speaks `WorkerRequest` and `WorkerReply`.
 */
import { hash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { parentPort } from "node:worker_threads";
import { countPages } from "../formats/count-pages.ts";
import { listDigidoc } from "../formats/digidoc.ts";
import { type FileFormat, kindOf } from "../formats/file-format.ts";
import { officeFacts, withoutTags } from "../formats/office.ts";
import { pdfBytesOf, pdfFacts, pdfPages, TEXT_MAX } from "../formats/pdf.ts";
import { accessOf } from "../formats/random-access.ts";
import { messageOf } from "../std/fault.ts";
import { type Converted, NOTHING_FOUND } from "./document-row.ts";

/** One job at a time: to count the pages of a file, or to read all that conversion finds in it. */
export type WorkerRequest = { job: "pages" | "extract"; path: string; filename: string };
/** `failed`: why the file could not be looked into; the thread goes on. */
export type WorkerReply = { found: Converted } | { failed: string };

parentPort?.on("message", (request: WorkerRequest) => {
  const reply: Promise<WorkerReply> = lookInto(request).then(
    (found) => ({ found }),
    (error: unknown) => ({ failed: messageOf(error) }),
  );
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  void reply.then((answer) => parentPort?.postMessage(answer));
});

/** Larger files are not looked into: they count as one page without text. */
const SIZE_MAX = 256 * 1024 * 1024;

/** What is in a file: the pages charged for it, at least 1; of `extract` also metadata, text, and what a digidoc contains. */
async function lookInto({ job, path, filename }: WorkerRequest): Promise<Converted> {
  const { size } = await stat(path);
  if (size > SIZE_MAX) return NOTHING_FOUND;
  const bytes = await readFile(path);
  const kind = kindOf(bytes, filename);
  if (job === "pages") return { ...NOTHING_FOUND, pages: await pagesOf(bytes, kind) };
  if (kind === "digidoc" || kind === "ddoc")
    return { ...NOTHING_FOUND, digidoc: true, ...(await insideOf(bytes, kind)) };
  return { ...NOTHING_FOUND, ...(await looked(bytes, kind)) };
}

async function pagesOf(bytes: Buffer, kind: FileFormat): Promise<number> {
  const counted =
    kind === "office"
      ? (await officeFacts(bytes)).pages
      : await countPages(accessOf(bytes), kind, () => pdfPages(pdfBytesOf(bytes)));
  return Math.max(1, counted ?? 1);
}

/** The documents in a digidoc container, and all their names and texts for the search. */
async function insideOf(
  container: Buffer,
  kind: FileFormat,
): Promise<Pick<Converted, "contents" | "text">> {
  const contents: Converted["contents"] = [];
  let text = "";
  for (const { name, size, bytes } of await listDigidoc(container, kind)) {
    const inner = kindOf(bytes, name);
    const { pages, text: words } = await looked(bytes, inner);
    contents.push({ name, size, sha256: hash("sha256", bytes), pages });
    if (text.length < TEXT_MAX) text += `${name}\n${words}\n`;
  }
  return { contents, text: text.slice(0, TEXT_MAX) };
}

/** Pages, metadata and text of what is no digidoc. Each document is opened once. */
async function looked(
  bytes: Buffer,
  kind: FileFormat,
): Promise<Omit<Converted, "digidoc" | "contents">> {
  if (kind === "pdf" || kind === "office") {
    const { pages = 1, ...facts } = await (kind === "pdf" ? pdfFacts(bytes) : officeFacts(bytes));
    return { ...facts, pages: Math.max(1, pages) };
  }
  return { pages: await pagesOf(bytes, kind), text: textOf(bytes, kind) };
}

function textOf(bytes: Buffer, kind: FileFormat): string {
  if (kind === "text" || kind === "mail") return decoded(bytes.subarray(0, TEXT_MAX));
  if (kind === "xml") return withoutTags(bytes.toString("utf8", 0, TEXT_MAX));
  return "";
}

/** UTF-16 where its mark says so, else UTF-8, else the encoding that old text files here have. */
function decoded(bytes: Buffer): string {
  const mark = bytes.toString("latin1", 0, 2);
  if (mark === "\xff\xfe") return new TextDecoder("utf-16le").decode(bytes);
  if (mark === "\xfe\xff") return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return new TextDecoder("windows-1257").decode(bytes);
  }
}
