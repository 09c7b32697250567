/**
 * What an archive, or what stands before it, answers instead of the truth, as it crosses: read and judged
 * by the client's own code, so that a client that believes it is found out.
 */
import type { ArchiveError } from "../../src/archive/archive-error.ts";
import type { JsonFields } from "../../src/archive/json-fields.ts";
import { classifyReply } from "../../src/archive/classify-reply.ts";
import { documentDetailOf, documentsPageOf, foldersPageOf } from "../../src/archive/resources.ts";
import type { Operation } from "../../src/wire/shapes.ts";
import type { Dice } from "./dice.ts";

const HTML = "<html><h1>nginx</h1>";
const ODD = { response: "ERROR", responseDescription: "INDEX_LOCKED" };

/** Answers to an upload that prove nothing: it may be stored. */
const PROOFLESS: readonly (readonly [status: number, body: unknown])[] = [
  ...[200, 400, 401, 403, 409, 413, 429, 500].map((status) => [status, ODD] as const),
  ...[408, 409, 425, 499, 302, 502].map((status) => [status, HTML] as const),
  [200, { response: "ERROR" }],
  [400, { response: "ERROR", responseDescription: null }],
];

/** Answers about one upload, by what stands before the archive: it is not stored. */
const OF_ONE_UPLOAD = [403, 413, 415, 422] as const;

/** A reply to an upload that proves nothing. */
export function prooflessReply(dice: Dice): Error {
  const [status, body] = dice.pick(PROOFLESS) ?? [200, ODD];
  return errorOf("upload", status, body);
}

/** A firewall's or a proxy's refusal of one upload. */
export function refusalBefore(dice: Dice): Error {
  return errorOf("upload", dice.pick(OF_ONE_UPLOAD) ?? 403, HTML);
}

/** What the client makes of a page of documents that is none. */
export function hollowDocuments(dice: Dice, index: number) {
  return read("documents", hollow(dice, index, "documents"), (fields) =>
    documentsPageOf(fields, index, documentDetailOf),
  );
}

/** What the client makes of a page of folders that is none. */
export function hollowFolders(dice: Dice, index: number) {
  return read("folders", hollow(dice, index, "folders"), (fields) => foldersPageOf(fields, index));
}

function hollow(dice: Dice, index: number, list: string): unknown {
  const page = { response: "OK", paginationSize: 10, paginationPages: dice.int(0, 2) };
  switch (dice.int(0, 2)) {
    case 0:
      return page;
    case 1:
      return { ...page, [list]: null };
    default:
      // One page with nothing on it would be an empty list.
      return { ...page, paginationPages: Math.max(2, index + dice.int(1, 2)), [list]: [] };
  }
}

function errorOf(operation: Operation, status: number, body: unknown): ArchiveError | Error {
  try {
    read(operation, body, () => undefined, status);
    return new Error(`${operation}: ${status} was believed`);
  } catch (error) {
    return error as ArchiveError;
  }
}

function read<T>(
  operation: Operation,
  body: unknown,
  reads: (fields: JsonFields) => T,
  status = 200,
): T {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const reply = { status, headers: {}, body: Buffer.from(text), afterRequest: true };
  return classifyReply(reply, { operation, now: 0, secrets: [] }, reads);
}
