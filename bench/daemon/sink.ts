/**
 * An archive that stores nothing, for measuring who sends to it: every upload is read to its last
 * byte and answered at once (or after `SINK_LATENCY_MS`), and is CONVERTED when someone asks (or
 * `SINK_CONVERT_MS` later). The content of every n-th upload is hashed where `SINK_SAMPLE` is n.
 * A program of its own: forked, it tells its port, and answers every message with a `SinkReport`.
 */
import { createServer, type Socket } from "node:net";
import { PartDigest } from "./part-digest.ts";

const LATENCY_MS = Number(process.env["SINK_LATENCY_MS"] ?? 0);
const CONVERT_MS = Number(process.env["SINK_CONVERT_MS"] ?? 0);
const SAMPLE = Number(process.env["SINK_SAMPLE"] ?? 0);
/** Folders below the root: as many of `d000`, `d001`, … as of `t000`, `t001`, …, and `d000`, … below each of these. */
const FOLDERS = 100;
/** Form fields and the head of the file's part are within this much of a body's beginning. */
const HEAD_BYTES_MAX = 4096;
const HEAD_END = Buffer.from("\r\n\r\n");
const UPLOAD = "/document/upload.html";
const ROOT = 1;

/** What the sink tells of its own. */
export type SinkReport = {
  readonly uploads: number;
  readonly bytes: number;
  /** Requests of any other operation, by its path. */
  readonly asked: Readonly<Record<string, number>>;
  readonly cpuMs: number;
  /** Of every upload its name and when its head was here, epoch ms; only when `detailed` is asked for. */
  readonly arrivals: readonly (readonly [filename: string, at: number])[];
  /** SHA-256 of the sampled contents, by name. */
  readonly digests: Readonly<Record<string, string>>;
};

type Request = {
  readonly path: string;
  readonly length: number;
  /** When its head was here, epoch ms. */
  readonly at: number;
  readonly digest: PartDigest | undefined;
  left: number;
  head: Buffer;
};

type Stored = {
  readonly id: number;
  readonly filename: string;
  readonly filesize: number;
  readonly at: number;
};

const stored = new Map<number, Stored[]>();
let uploads = 0;
let bytes = 0;
const asked: Record<string, number> = {};
let begun = 0;
const arrivals: [string, number][] = [];
const digests: Record<string, string> = {};

function answer(socket: Socket, request: Request): void {
  const body = JSON.stringify({ response: "OK", ...payloadOf(request) });
  const reply =
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n" +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  if (LATENCY_MS === 0) socket.write(reply);
  else setTimeout(() => socket.write(reply), LATENCY_MS);
}

function payloadOf(request: Request): object {
  const { path, head } = request;
  if (path.endsWith(UPLOAD)) return { document: taken(request) };
  asked[path] = (asked[path] ?? 0) + 1;
  const fields = new URLSearchParams(head.toString("latin1"));
  const folderId = Number(fields.get("folderId") ?? ROOT);
  if (path.endsWith("/folder/info.html"))
    return { folder: folderOf(Number(fields.get("id") ?? ROOT)) };
  if (path.endsWith("/folder/list.html")) return folders(folderId);
  if (path.endsWith("/document/list.html")) return documents(folderId, fields);
  if (path.endsWith("/document/info.html")) return { document: byId(Number(fields.get("id"))) };
  if (path.endsWith("/search.html"))
    return { paginationSize: 100, paginationPages: 0, documents: [], folders: [] };
  return {};
}

function taken({ head, length, at, digest }: Request): object {
  const text = head.toString("utf8");
  const folderId = Number(/name="folderId"\r\n(?:[^\r\n]+\r\n)*\r\n(\d+)/.exec(text)?.[1] ?? ROOT);
  const filename = /filename="([^"]*)"/.exec(text)?.[1] ?? "";
  uploads += 1;
  bytes += length;
  arrivals.push([filename, at]);
  if (digest) digests[filename] = digest.hex();
  const document = { id: uploads, filename, filesize: filesizeOf(head, length), at: Date.now() };
  const inFolder = stored.get(folderId);
  if (inFolder) inFolder.push(document);
  else stored.set(folderId, [document]);
  return { ...detailOf(document, folderId), status: "UPLOADED" };
}

/** The file is the last part: what stands before and behind it is known from the head. */
function filesizeOf(head: Buffer, length: number): number {
  const from = head.indexOf(HEAD_END, head.indexOf('filename="')) + HEAD_END.length;
  const boundary = head.indexOf("\r\n");
  return length - from - boundary - "\r\n--\r\n".length;
}

function detailOf({ id, filename, filesize, at }: Stored, folderId: number): object {
  const status = Date.now() - at >= CONVERT_MS ? "CONVERTED" : "UPLOADED";
  const dates = { createdDate: at, uploadedDate: at };
  return { id, folderId, digidoc: false, filename, ...dates, pages: 1, filesize, status };
}

/** Folders are numbered from the root's on: those below it, then those below the first `t`, and so on. */
function folderOf(id: number): object {
  if (id === ROOT) return { id, name: "root", root: true, createdDate: 0 };
  const at = id - ROOT - 1;
  const isTop = at < 2 * FOLDERS;
  const parentId = isTop ? ROOT : ROOT + Math.floor(at / FOLDERS) - 1 + FOLDERS;
  const letter = isTop && at >= FOLDERS ? "t" : "d";
  const name = `${letter}${String(at % FOLDERS).padStart(3, "0")}`;
  return { id, parentId, name, root: false, createdDate: 0 };
}

function folders(parentId: number): object {
  const top = parentId - ROOT - 1;
  const isParent = top >= FOLDERS && top < 2 * FOLDERS;
  const first = parentId === ROOT ? 0 : (top - FOLDERS + 2) * FOLDERS;
  const some = isParent ? FOLDERS : 0;
  const count = parentId === ROOT ? 2 * FOLDERS : some;
  const all = Array.from({ length: count }, (_, index) => folderOf(ROOT + 1 + first + index));
  return { paginationSize: 1000, paginationPages: 1, folders: all };
}

/** The latest first, as a client that follows its documents asks. */
function documents(folderId: number, fields: URLSearchParams): object {
  const size = Number(fields.get("paginationSize") ?? 10_000);
  const index = Number(fields.get("paginationIndex") ?? 0);
  const all = stored.get(folderId) ?? [];
  const latestFirst = fields.get("sortDesc") === "true" ? all.toReversed() : all;
  const some = latestFirst.slice(index * size, (index + 1) * size);
  return {
    paginationSize: size,
    paginationPages: Math.ceil(all.length / size),
    documents: some.map((document) => detailOf(document, folderId)),
  };
}

function byId(id: number): object | undefined {
  for (const [folderId, all] of stored) {
    const found = all.find((each) => each.id === id);
    if (found) return detailOf(found, folderId);
  }
  return undefined;
}

/** HTTP/1.1 with a content length, one request after another: no more is needed of it. */
function serve(socket: Socket): void {
  let buffered: Buffer = Buffer.alloc(0);
  let request: Request | undefined;
  socket.setNoDelay(true);
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    let rest = chunk;
    while (rest.length > 0) {
      if (request) {
        rest = taking(request, rest);
      } else {
        buffered = buffered.length === 0 ? rest : Buffer.concat([buffered, rest]);
        const end = buffered.indexOf(HEAD_END);
        if (end < 0) return;
        const head = buffered.toString("latin1", 0, end);
        rest = buffered.subarray(end + HEAD_END.length);
        buffered = Buffer.alloc(0);
        request = requestOf(head);
        if (/^expect:/im.test(head)) socket.write("HTTP/1.1 100 Continue\r\n\r\n");
      }
      if (request.left > 0) continue;
      answer(socket, request);
      request = undefined;
    }
  });
}

function requestOf(head: string): Request {
  const path = head.slice(head.indexOf(" ") + 1, head.indexOf(" HTTP/"));
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  return {
    path,
    length,
    at: Date.now(),
    digest: path.endsWith(UPLOAD) ? digestFor(head, length) : undefined,
    left: length,
    head: Buffer.alloc(0),
  };
}

function digestFor(head: string, length: number): PartDigest | undefined {
  begun += 1;
  if (SAMPLE === 0 || (begun - 1) % SAMPLE !== 0) return undefined;
  const boundary = /boundary="?([^"\r\n;]+)/i.exec(head)?.[1] ?? "";
  return new PartDigest(boundary, length);
}

/** Takes what of `chunk` belongs to the request; returns what is left of it. */
function taking(request: Request, chunk: Buffer): Buffer {
  const own = chunk.subarray(0, request.left);
  request.left -= own.length;
  request.digest?.add(own);
  if (request.head.length < HEAD_BYTES_MAX) {
    request.head = Buffer.concat([request.head, own.subarray(0, HEAD_BYTES_MAX)]);
  }
  return chunk.subarray(own.length);
}

function report(isDetailed: boolean): SinkReport {
  const { user, system } = process.cpuUsage();
  const cpuMs = (user + system) / 1_000;
  return { uploads, bytes, asked, cpuMs, arrivals: isDetailed ? arrivals : [], digests };
}

const server = createServer(serve);
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.(typeof address === "object" ? address?.port : address);
});
process.on("message", (what) => process.send?.(report(what === "detailed")));
process.on("disconnect", () => process.exit());
