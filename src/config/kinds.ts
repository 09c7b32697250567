/** Kinds of value: text, numbers, times, names. */
import { createHmac, getHashes } from "node:crypto";
import { createRequire } from "node:module";
import { DAY_MINUTES, type HoursWindow } from "../domain/calendar.ts";
import { formatDuration, parseDuration, parseSize } from "../std/units.ts";
import { nearest } from "../std/nearest.ts";
import { quoted, sortOf } from "../std/printable.ts";
import { type Kind, kind, type Refuse } from "./kind.ts";

/** The text itself; a number or a truth value in its place was meant as text, and says so. */
export function textIn(value: unknown, refuse: Refuse): string {
  if (typeof value === "string") return value;
  if (typeof value === "object") return refuse(`must be text, is ${sortOf(value)}`, "write text");
  return refuse(`${quoted(value)} is not text`, `put it in quotes: "${quoted(value)}"`);
}

/** A secret of so many characters or more. Whatever is wrong with it, its value is not told. */
export function secret(least = 1): Kind<string> {
  return kind("secret", (value, refuse) => {
    const text = secretIn(value, refuse);
    if (text.length >= least) return text;
    return refuse(
      `has fewer than ${least} characters and could be guessed`,
      `write ${least} or more, e.g. what \`openssl rand -base64 24\` prints`,
    );
  });
}

/** The secret, when it can be one. */
export function secretIn(value: unknown, refuse: Refuse): string {
  if (typeof value !== "string")
    return refuse(`must be text, is ${sortOf(value)}`, "put it in quotes");
  return value === "" ? refuse("is empty", "give the value, or leave the key out") : value;
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
  return kind("duration", read, { bounds: `${shortest} to ${max}` });
}

/** A whole number between two, both allowed. */
export function wholeNumber(min: number, max: number): Kind<number> {
  const wanted = `write a whole number from ${min} to ${max}`;
  const read = (value: unknown, refuse: Refuse) => {
    if (typeof value === "string" && /^\d+$/.test(value)) {
      // More digits than a number holds are text, though no one wrote quotes.
      if (Number(value) > max) return refuse(`${quoted(value)} is out of bounds`, wanted);
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
  return kind("whole number", read, { bounds });
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
  // Fit for a command line, a log line and a metric's label.
  const fix = "write a name of 1 to 100 characters, without control characters";
  const read = (value: unknown, refuse: Refuse) => {
    const name = textIn(value, refuse);
    if (name.trim() === "") return refuse("a name is empty", fix);
    if (name.length > 100) return refuse(`a name has ${name.length} characters`, fix);
    if (!/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name)) return name;
    return refuse(`${quoted(name)} has a control character`, fix);
  };
  return kind("text", read, { bounds: "1 to 100 characters" });
}

/** A size between two written ones, both allowed; bytes. A bare number is bytes. */
export function size(min = "0", max = "10000GB"): Kind<number> {
  const bytesMin = parseSize(min) ?? 0;
  const bytesMax = parseSize(max) ?? Number.MAX_SAFE_INTEGER;
  const read = (value: unknown, refuse: Refuse) => {
    const text = typeof value === "number" ? String(value) : value;
    const bytes = typeof text === "string" ? parseSize(text) : undefined;
    if (bytes === undefined) {
      const perSecond = typeof text === "string" && /(\/s|ps|bit)$/i.test(text);
      const fix = perSecond ? "write bytes alone, e.g. 2MB" : "write 512KB, 2MB or 10MiB";
      return refuse(`${quoted(value)} is not a size`, fix);
    }
    if (bytes < bytesMin) return refuse(`${quoted(value)} is too small`, `write ${min} or more`);
    if (bytes > bytesMax) return refuse(`${quoted(value)} is too large`, `write ${max} or less`);
    return bytes;
  };
  return kind("size", read, { bounds: `${min} to ${max}` });
}

/** A program, or one of its arguments; whether a number may stand for its digits. */
export function word(areNumbersText = false): Kind<string> {
  return kind("text", (value, refuse) => {
    const isText = typeof value === "number" && areNumbersText;
    const text = isText ? String(value) : textIn(value, refuse);
    return text.includes("\0") ? refuse("holds a NUL character", "remove it") : text;
  });
}

const CRON_FIX = 'write 5 fields, or 6 with seconds first, e.g. "*/10 * * * *"';

/** Loaded for an expression in a configuration: no command is kept waiting for it by a default. */
const nodeCron = () => createRequire(import.meta.url)("node-cron") as typeof import("node-cron");

/** A cron expression of 5 fields, or of 6 with seconds first. Returned as text; a `default` is not looked at. */
export function cron(): Kind<string> {
  return kind("cron expression", (value, refuse) => {
    const text = textIn(value, refuse).trim();
    const fields = text.split(/\s+/).length;
    if (fields !== 5 && fields !== 6) {
      return refuse(`${quoted(value)} is not a cron expression`, CRON_FIX);
    }
    const { valid, errors } = nodeCron().validateDetailed(text);
    if (valid) return text;
    const wrong = errors.map(({ field }) => field).join(", ");
    return refuse(`${quoted(text)} is not a cron expression (wrong: ${wrong})`, CRON_FIX);
  });
}

const HOURS_FIX = 'write windows such as "18:00-07:00" or "18:00-07:00, 12:00-13:00"';
const WINDOW = /^(\d{1,2}):(\d{2}) ?[-–] ?(\d{1,2}):(\d{2})$/;

/** `HH:MM-HH:MM`, one or more with commas between them; over midnight where the end is earlier. */
export function sendingHours(): Kind<HoursWindow[]> {
  return kind("`HH:MM-HH:MM`, several with commas", (value, refuse): HoursWindow[] => {
    if (typeof value !== "string") return refuse(`${quoted(value)} is no hours`, HOURS_FIX);
    return value.split(",").map((part) => windowIn(part.trim(), refuse));
  });
}

function windowIn(text: string, refuse: Refuse): HoursWindow {
  const found = WINDOW.exec(text);
  if (!found) return refuse(`${quoted(text)} is no window of hours`, HOURS_FIX);
  const [hour = 0, minute = 0, toHour = 0, toMinute = 0] = found.slice(1).map(Number);
  const [from, to] = [hour * 60 + minute, toHour * 60 + toMinute];
  if (minute > 59 || toMinute > 59 || from >= DAY_MINUTES || to > DAY_MINUTES) {
    return refuse(`${quoted(text)} names a time that no clock shows`, HOURS_FIX);
  }
  if (from === to) {
    const fix = "write 00:00-24:00, or leave the key out, to send at all hours";
    return refuse(`${quoted(text)} is no time at all`, fix);
  }
  return { from, to };
}

/** A digest that `node:crypto` knows and can make an HMAC with. */
export function digest(): Kind<string> {
  return kind("a digest of `node:crypto`", (value, refuse) => {
    const text = textIn(value, refuse);
    if (makesHmac(text)) return text;
    const meant = nearest(text, getHashes().filter(makesHmac));
    return refuse(
      `${quoted(text)} is not a digest that an HMAC can be made with`,
      meant === undefined ? "write e.g. sha256" : `did you mean ${meant}?`,
    );
  });
}

/** Some listed digests, such as shake128, give no HMAC; only trying tells. */
function makesHmac(name: string): boolean {
  if (!getHashes().some((known) => known.toLowerCase() === name.toLowerCase())) return false;
  try {
    createHmac(name, "key").digest();
    return true;
  } catch {
    return false;
  }
}
