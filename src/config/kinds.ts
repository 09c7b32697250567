import { formatDuration, parseDuration } from "./duration.ts";
import { type Kind, kind, type Refuse } from "./kind.ts";
import { nearest } from "./nearest.ts";
import { quoted, sortOf } from "./quoted.ts";

/** The text itself; a number or a truth value in its place was meant as text, and says so. */
export function textIn(value: unknown, refuse: Refuse): string {
  if (typeof value === "string") return value;
  if (typeof value === "object") return refuse(`must be text, is ${sortOf(value)}`, "write text");
  return refuse(`${quoted(value)} is not text`, `put it in quotes: "${quoted(value)}"`);
}

/** A secret. Whatever is wrong with it, its value is not told. */
export function secret(): Kind<string> {
  return kind("secret", (value, refuse) => {
    if (typeof value !== "string") {
      return refuse(`must be text, is ${sortOf(value)}`, "put it in quotes");
    }
    if (value === "") return refuse("is empty", "give the value, or leave the key out");
    return value;
  });
}

/** A duration between two written ones, both allowed; milliseconds. */
export function duration(min: string, max: string): Kind<number> {
  const minMs = parseDuration(min) ?? 0;
  const maxMs = parseDuration(max) ?? Number.POSITIVE_INFINITY;
  const read = (value: unknown, refuse: Refuse) => {
    if (value === 0 && minMs === 0) return 0;
    const ms = typeof value === "string" ? parseDuration(value) : undefined;
    if (ms === undefined) {
      return refuse(`${quoted(value)} is not a duration`, "write 3s, 200ms, 5m, 6h or 7d");
    }
    if (ms < minMs) return refuse(`${quoted(value)} is too short`, `write ${min} or more`);
    if (ms > maxMs) return refuse(`${quoted(value)} is too long`, `write ${max} or less`);
    return ms;
  };
  const shortest = minMs === 0 ? "0" : formatDuration(minMs);
  return kind("duration", read, `${shortest} to ${max}`);
}

/** A whole number between two, both allowed. */
export function wholeNumber(min: number, max: number): Kind<number> {
  const wanted = `write a whole number from ${min} to ${max}`;
  const read = (value: unknown, refuse: Refuse) => {
    if (typeof value === "string" && /^\d+$/.test(value)) {
      return refuse(
        `${quoted(value)} is text, not a number`,
        `write ${BigInt(value)} without quotes`,
      );
    }
    if (typeof value !== "number" || !Number.isInteger(value)) {
      return refuse(`${quoted(value)} is not a whole number`, wanted);
    }
    if (value < min || value > max) return refuse(`${value} is out of bounds`, wanted);
    return value;
  };
  const bounds = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} to ${max}`;
  return kind("whole number", read, bounds);
}

/** One of some words. */
export function choice<const W extends string>(...words: readonly W[]): Kind<W> {
  return kind(words.map((word) => `\`${word}\``).join(", "), (value, refuse) => {
    const word = words.find((word) => word === value);
    if (word !== undefined) return word;
    const meant = typeof value === "string" ? nearest(value, words) : undefined;
    const fix = meant === undefined ? `write ${words.join(", ")}` : `did you mean ${meant}?`;
    return refuse(`${quoted(value)} is none of ${words.join(", ")}`, fix);
  });
}

/** The name of an archive: a word that is fit for a label and, in capitals, for a variable. */
export function archiveName(): Kind<string> {
  return kind("name", (value, refuse) => {
    if (typeof value === "string" && /^[a-z][a-z0-9-]{0,30}$/.test(value)) return value;
    // It is not told: `accountKey:abc` (no blank after the colon) would stand in its place.
    const fix = "write a word of a-z, 0-9 and -, that begins with a letter";
    return refuse("cannot be the name of an archive", fix);
  });
}

/** A name that the operator gives: to a mirror, a rule, a channel, an instance. */
export function givenName(): Kind<string> {
  return kind(
    "text",
    (value, refuse) => nameIn(textIn(value, refuse), refuse),
    "1 to 100 characters",
  );
}

/** The name, when it is fit for a command line, a log line and a metric's label. */
export function nameIn(name: string, refuse: Refuse): string {
  const fix = "write a name of 1 to 100 characters, without control characters";
  if (name.trim() === "") return refuse("a name is empty", fix);
  if (name.length > 100) return refuse(`a name has ${name.length} characters`, fix);
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name)) {
    return refuse(`${quoted(name)} has a control character`, fix);
  }
  return name;
}

/** `off`, which YAML 1.1 reads as false. */
export function switchedOff(): Kind<undefined> {
  return kind("`off`", (value, refuse) => {
    if (value === "off" || value === false) return undefined;
    return refuse(`${quoted(value)} is not a listener`, "write off, or { listen: 127.0.0.1:8470 }");
  });
}
