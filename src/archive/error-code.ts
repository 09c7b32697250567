import { CODES } from "../wire/codes.ts";
import type { Operation } from "../wire/shapes.ts";
import { objectOf, own } from "./json-fields.ts";

/** Where an error object is most likely to keep its code. */
const CODE_KEYS = ["code", "error", "name", "value"];

const CODE = /^[A-Z][A-Z0-9_]{1,99}$/;

/** Words of codes that speak of who we are or what we may; which ones occur is open (Authentication 4). */
const OF_CREDENTIALS =
  /^(?:(?:ACC|API)?KEYS?|SIG|SIGN|SIGNATURES?|(?:UN)?AUTH(?:(?:ENTICAT|ORI[SZ])[A-Z]*)?|CREDENTIALS?|ACCESS|FORBIDDEN|ACCOUNT|LOGIN)$/;

/** Words of codes that are about one document, its place, or how much there is; and a database's key. */
const OF_SOMETHING_ELSE =
  /^(?:DOC|DOCUMENT|DIGIDOC|CONTAINER|FILE|FOLDER|METADATA|QUOTA|LIMIT|SIZE|PAGES?|DUPLICATE|PRIMARY)$/;

/**
 * The error code in `responseDescription`: bare, or in an object, at most one level down, or in a
 * list of one, since its exact encoding is open (Errors 5). A code that the operation can give goes
 * before whatever else looks like one. `secrets` are never taken for a code, even if they look
 * like one and the archive repeats them.
 */
export function errorCodeIn(
  description: unknown,
  operation: Operation,
  secrets: readonly string[],
): string | undefined {
  const found = textsIn(description, 2)
    .map((text) => text.trim())
    .filter((text) => CODE.test(text) && !secrets.includes(text));
  return found.find((code) => isCodeOf(operation, code)) ?? found[0];
}

/** Whether the interface lists this code for the operation. */
export function isCodeOf(operation: Operation, code: string): boolean {
  return (CODES[operation] as readonly string[]).includes(code);
}

/** Whether a code that the interface does not list means that the credentials were refused. */
export function meansCredentials(code: string): boolean {
  const words = code.split("_");
  return (
    words.some((word) => OF_CREDENTIALS.test(word)) &&
    !words.some((word) => OF_SOMETHING_ELSE.test(word))
  );
}

function textsIn(value: unknown, levels: number): string[] {
  if (typeof value === "string") return [value];
  if (levels < 0) return [];
  if (Array.isArray(value)) return value.length === 1 ? textsIn(value[0], levels - 1) : [];
  const object = objectOf(value);
  if (!object) return [];
  const likely = CODE_KEYS.filter((key) => Object.hasOwn(object, key));
  const others = Object.keys(object).filter((key) => !CODE_KEYS.includes(key));
  return [...likely, ...others].flatMap((key) => textsIn(own(object, key), levels - 1));
}
