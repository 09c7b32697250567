/**
 * The campaign's own judge of replies, written from the interface document and not from the client:
 * what is a success of this very request, and what may be taken for a refusal.
 */
import { CODES } from "../../src/wire/codes.ts";
import type { Asked } from "./asked.ts";

type Json = Record<string, unknown>;

/** The id, or the ids, that a right answer shows; undefined for anything but a success of `asked`. */
export function successOf(asked: Asked, body: Buffer): string | undefined {
  const json = jsonOf(body);
  if (!isRecord(json) || json["response"] !== "OK" || !Object.hasOwn(json, "response"))
    return undefined;
  switch (asked.operation) {
    case "upload":
      return uploadedOf(asked, json["document"]);
    case "document":
      return isDocument(json["document"]) ? named(asked, json["document"]) : undefined;
    case "folder":
      return isFolder(json["folder"]) ? named(asked, json["folder"]) : undefined;
    case "folders":
      return listed(json, [["folders", isListedFolder]]);
    case "search":
      return listed(json, [
        ["documents", isDocument],
        ["folders", isListedFolder],
      ]);
    case "digidoc":
      return listed(json, [["documents", isContained]]);
    default:
      return listed(json, [["documents", isDocument]]);
  }
}

/** What the client gave for the answer, in the words of `successOf`. */
export function shownBy(answer: unknown): string {
  const json = answer as Json;
  if ("paginationPages" in json) {
    const items = [json["documents"], json["folders"]].flatMap((list) => (list as Json[]) ?? []);
    return items.map(({ id }) => String(id)).join();
  }
  return String(json["id"]);
}

/** Statuses by which servers also answer what they have done. */
const AFTER_THE_DEED = new Set([302, 303, 408, 409, 425, 499]);

/** Words of codes by which an archive may say that it does not know us. */
const OF_CREDENTIALS = /KEY|SIG|AUTH|CREDENTIAL|ACCESS|FORBIDDEN|ACCOUNT|LOGIN/;

/**
 * Whether an upload that was received whole and answered with this body may pass for not stored: by a code
 * that the interface gives to uploads, or one that speaks of credentials; without either, by the status.
 */
export function mayBeProof(reply: Buffer, body: Buffer): boolean {
  const json = jsonOf(body);
  if (isRecord(json) && json["response"] === "OK") return false;
  if (isRecord(json) && json["response"] === "ERROR") {
    const words = JSON.stringify(json["responseDescription"] ?? "").match(/[A-Z][A-Z0-9_]+/g) ?? [];
    const codes: readonly string[] = CODES.upload;
    return words.some((word) => codes.includes(word) || OF_CREDENTIALS.test(word));
  }
  const status = statusOf(reply);
  return status !== undefined && status >= 300 && status < 500 && !AFTER_THE_DEED.has(status);
}

function statusOf(reply: Buffer): number | undefined {
  const statuses = [...reply.toString("latin1").matchAll(/HTTP\/1\.\d +(\d{3})/g)];
  return statuses.map(([, status]) => Number(status)).find((status) => status >= 200);
}

/** Whether these bytes of a reply can be a refusal: by status, or because they speak of an error. */
export function mayRefuse(reply: Buffer): boolean {
  const final = statusOf(reply);
  return (final !== undefined && final >= 300 && final < 500) || reply.includes("ERROR");
}

function uploadedOf(asked: Asked, document: unknown): string | undefined {
  if (!isDocument(document)) return undefined;
  const size = natural(document["filesize"]) ?? 0;
  const isOurs =
    natural(document["folderId"]) === asked.id &&
    String(document["filename"]).normalize() === asked.filename.normalize() &&
    (size === 0 || size === asked.sizeBytes);
  return isOurs ? String(natural(document["id"])) : undefined;
}

function named({ id }: Asked, item: Json): string | undefined {
  return natural(item["id"]) === id ? String(id) : undefined;
}

function listed(
  json: Json,
  lists: readonly (readonly [string, (item: unknown) => boolean])[],
): string | undefined {
  const pages = natural(json["paginationPages"]);
  if (pages === undefined) return undefined;
  const ids: string[] = [];
  for (const [name, is] of lists) {
    const items = json[name];
    if (!Array.isArray(items) || !items.every(is)) return undefined;
    ids.push(...items.map(({ id }: Json) => String(natural(id))));
  }
  // The first page is asked for: there are items on it, or there are no pages, or none but this one.
  const isPossible = ids.length > 0 ? pages > 0 : pages < 2;
  return isPossible ? ids.join() : undefined;
}

function isDocument(item: unknown): item is Json {
  if (!isContained(item) || natural(item["folderId"]) === undefined) return false;
  const dates = [item["createdDate"], item["uploadedDate"]];
  return dates.some((date) => integer(date) !== undefined);
}

/** What is inside a digidoc is shown by its name: nothing is decided by where it is, and since when. */
function isContained(item: unknown): item is Json {
  if (!isRecord(item) || typeof item["filename"] !== "string") return false;
  return (natural(item["id"]) ?? 0) > 0;
}

/** The root may have no name. */
function isListedFolder(item: unknown): item is Json {
  return isFolder(item) || (isRecord(item) && natural(item["id"]) !== undefined && isRoot(item));
}

function isRoot({ root }: Json): boolean {
  return root === true || root === "true";
}

function isFolder(item: unknown): item is Json {
  return isRecord(item) && natural(item["id"]) !== undefined && typeof item["name"] === "string";
}

/** Own fields only, as if there were no prototypes. */
function isRecord(value: unknown): value is Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  Object.setPrototypeOf(value, null);
  return true;
}

function integer(value: unknown): number | undefined {
  if (typeof value === "string") {
    if (!/^-?[0-9]{1,16}$/.test(value)) return undefined;
    return integer(Number.parseInt(value, 10));
  }
  const isExact = typeof value === "number" && Math.abs(value) <= 2 ** 53 - 1;
  return isExact && Math.floor(value) === value ? value : undefined;
}

function natural(value: unknown): number | undefined {
  const number = integer(value);
  return number !== undefined && number >= 0 ? number : undefined;
}

function jsonOf(body: Buffer): unknown {
  const text = body.toString("utf8");
  if (!Buffer.from(text, "utf8").equals(body)) return undefined; // not UTF-8
  try {
    return JSON.parse(text.startsWith("\ufeff") ? text.slice(1) : text);
  } catch {
    return undefined;
  }
}
