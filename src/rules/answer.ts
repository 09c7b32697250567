/**
 * What a `before` hook answers: one JSON object of at most 64 KB. Its values go through the same
 * limits as those of rules. Read strictly: a key that is not known may be a known one misspelt.
 */
import { type MetadataField, METADATA_FIELDS } from "../domain/attributes.ts";
import { dayOf, isoDay } from "./dates.ts";

/** What a hook has to say of a document. Plain data. */
export type HookAnswer = {
  /** Why it is not to be sent at all. */
  readonly veto?: string;
  /** The name it is sent under. */
  readonly name?: string;
  /** The archive folder path, as `Decided.folder` has it. */
  readonly folder?: string;
  /** Null: the field is not sent. Absent: as the rules decided. */
  readonly metadata: { readonly [F in MetadataField]?: string | null };
  /** When it expires, `2026-11-20`; `never` for no expiry date. */
  readonly expires?: string;
};

/** `fault`: what is wrong with it, in lower case; the document is then held, or sent without. */
export type ReadAnswer = { readonly answer: HookAnswer } | { readonly fault: string };

/** A longer answer is none. */
export const ANSWER_BYTES_MAX = 64 * 1024;

/** A value is no longer than this; what is sent has limits of its own. */
const TEXT_MAX = 10_000;

const KEYS = ["veto", "name", "folder", "metadata", "expires"] as const;

/** What is wrong with an answer; never leaves this file. */
class Unfit extends Error {}

/** Reads what a hook has written. Never throws. */
export function answerOf(output: Uint8Array): ReadAnswer {
  if (output.byteLength > ANSWER_BYTES_MAX) {
    return { fault: `its answer is longer than ${ANSWER_BYTES_MAX} bytes` };
  }
  try {
    return { answer: checked(parsed(output)) };
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    return { fault: `its answer ${error.message}` };
  }
}

function parsed(output: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(output);
  } catch {
    throw new Unfit("is not UTF-8");
  }
  if (text.trim() === "") throw new Unfit("is empty; {} lets the document go as it is");
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Unfit("is not JSON");
  }
}

function checked(value: unknown): HookAnswer {
  const given = mapOf(value, "", KEYS);
  const said = textIn("veto", given.get("veto"));
  const veto = said === undefined ? undefined : oneLine(said);
  if (veto === "") throw new Unfit("has an empty veto: say why");
  const name = textIn("name", given.get("name"));
  if (name?.trim() === "") throw new Unfit("has an empty name");
  const folder = textIn("folder", given.get("folder"));
  const expires = expiresIn(given.get("expires"));
  return {
    ...(veto === undefined ? {} : { veto }),
    ...(name === undefined ? {} : { name }),
    ...(folder === undefined ? {} : { folder }),
    metadata: metadataIn(given.get("metadata")),
    ...(expires === undefined ? {} : { expires }),
  };
}

function mapOf(value: unknown, of: string, keys: readonly string[]): Map<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Unfit(of === "" ? "is no JSON object" : `has a ${of} that is no object`);
  }
  const given = new Map<string, unknown>(Object.entries(value));
  for (const key of given.keys()) {
    if (keys.includes(key)) continue;
    const place = of === "" ? "" : ` in ${of}`;
    const known = keys.join(", ");
    throw new Unfit(`has an unknown key${place}: ${oneLine(key).slice(0, 40)}; known are ${known}`);
  }
  return given;
}

/** Null counts as left out. */
function textIn(key: string, value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value !== "string") throw new Unfit(`has a ${key} that is no text`);
  if (value.length > TEXT_MAX) throw new Unfit(`has a ${key} of more than ${TEXT_MAX} characters`);
  return value.toWellFormed();
}

function metadataIn(value: unknown): HookAnswer["metadata"] {
  if (value === null || value === undefined) return {};
  const metadata: { [F in MetadataField]?: string | null } = {};
  const given = mapOf(value, "metadata", METADATA_FIELDS);
  for (const field of METADATA_FIELDS) {
    if (!given.has(field)) continue;
    const said = given.get(field);
    const isList = field === "keywords" && Array.isArray(said);
    const text = isList
      ? said.map((item: unknown) => textIn(field, item) ?? "").join(", ")
      : textIn(field, said);
    metadata[field] = text ?? null;
  }
  return metadata;
}

function expiresIn(value: unknown): string | undefined {
  const text = textIn("expires", value);
  if (text === undefined || text === "never") return text;
  const day = dayOf(text);
  if (!day) throw new Unfit("has an expires that is neither never nor a date such as 2036-11-20");
  return isoDay(day);
}

/** What is shown to people, in a line that cannot write over a terminal. */
function oneLine(text: string): string {
  return text
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
    .slice(0, 500)
    .toWellFormed();
}
