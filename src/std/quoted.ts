const SHOWN_MAX = 60;

/** A value as it is shown in a message: on one line, short, nothing that steers a terminal. */
export function quoted(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "a mapping";
  if (typeof value !== "string") return String(value);
  return escaped(value.length > SHOWN_MAX ? `${value.slice(0, SHOWN_MAX)}…` : value);
}

/** A path as it is shown to people: whole, since the user has to go there. */
export function quotedPath(path: string): string {
  return escaped(path);
}

function escaped(text: string): string {
  return JSON.stringify(text).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (c) => `\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}

/** What kind of thing a value is, for where the value itself may be a secret. */
export function sortOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "a mapping";
  if (typeof value === "string") return "text";
  return typeof value === "boolean" ? "true or false" : "a number";
}
