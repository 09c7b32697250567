/**
 * How the text of one field becomes a value. The interface leaves open which texts stand for
 * booleans and dates; what is read here is this archive's choice, and it is strict: a blank or
 * padded value is malformed, so that a client's attributes shows.
 */
import { z } from "zod";

/** What a reader returns for text that it cannot read. */
export const MALFORMED = Symbol("malformed");
/** Turns a field's text into a value, or says that it is malformed. */
export type FieldReader<T> = (text: string) => T | typeof MALFORMED;

/** A whole number that a double holds exactly. */
export const integer: FieldReader<number> = (text) => {
  if (!/^-?\d{1,16}$/.test(text)) return MALFORMED;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : MALFORMED;
};

const BOOLEAN = z.stringbool({ truthy: ["true", "1"], falsy: ["false", "0"] });

/** `true`, `false`, `1` or `0`, in any case. */
export const boolean: FieldReader<boolean> = (text) => BOOLEAN.safeParse(text).data ?? MALFORMED;

const ISO =
  /^(?<day>\d{4}-\d{2}-\d{2})(?<time>T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?(?<zone>Z|[+-]\d{2}:\d{2})?$/;
/** Days of the calendar alone. */
const DAY = z.iso.date();
const DAY_MS = 86_400_000;
/** The farthest moment that a Date holds, either way from the epoch. */
const EPOCH_MS_MAX = 8.64e15;

/** Epoch milliseconds, or ISO 8601: a day (its first moment, UTC) or a time (UTC unless it says). */
export const date: FieldReader<number> = (text) => {
  if (/^-?\d+$/.test(text)) {
    const ms = integer(text);
    return ms === MALFORMED || Math.abs(ms) > EPOCH_MS_MAX ? MALFORMED : ms;
  }
  const { day, time, zone } = ISO.exec(text)?.groups ?? {};
  if (day === undefined || (time === undefined && zone !== undefined)) return MALFORMED;
  // Date.parse takes the 30th of February for the 2nd of March.
  if (!DAY.safeParse(day).success) return MALFORMED;
  const ms = Date.parse(`${day}${time ?? "T00:00"}${zone ?? "Z"}`);
  return Number.isNaN(ms) ? MALFORMED : ms;
};

/** As `date`, but a bare day means its last moment: both ends of a range are inclusive. */
export const endDate: FieldReader<number> = (text) => {
  const ms = date(text);
  const bareDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  return ms !== MALFORMED && bareDay ? ms + DAY_MS - 1 : ms;
};

/** One of the names, letter for letter. */
export function oneOf<const N extends string>(names: readonly N[]): FieldReader<N> {
  return (text) => names.find((name) => name === text) ?? MALFORMED;
}

/** A whole number from `min` to `max`, both inclusive. */
export function within(min: number, max: number): FieldReader<number> {
  return (text) => {
    const value = integer(text);
    return value !== MALFORMED && value >= min && value <= max ? value : MALFORMED;
  };
}

/** Text of at most `max` characters. A character is a Unicode code point: an emoji counts once. */
export function atMost(max: number): FieldReader<string> {
  return (text) => {
    // No text has more code points than UTF-16 units: the cheap count settles nearly all.
    if (text.length <= max) return text;
    if (text.length > max * 2) return MALFORMED;
    return Array.from(text).length <= max ? text : MALFORMED;
  };
}

/** Any text. */
export const anyText: FieldReader<string> = (text) => text;

/** `/` or `/A/B`: no empty names, no control characters. */
export const folderPath: FieldReader<string> = (text) =>
  text === "/" || /^(?:\/[^/\p{Cc}]+)+$/u.test(text) ? text : MALFORMED;
