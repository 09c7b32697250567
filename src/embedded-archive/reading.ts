/**
 * How the text of one field becomes a value. The interface leaves open which texts stand for
 * booleans and dates; what is read here is this archive's choice, and it is strict: a blank or
 * padded value is malformed, so that a client's attributes shows.
 */
import { z } from "zod";

/** A whole number that a double holds exactly. */
export const integer = z
  .string()
  .regex(/^-?\d{1,16}$/)
  .transform(Number)
  .pipe(z.int());

/** A whole number from `min` to `max`, both inclusive. */
export function within(min: number, max: number) {
  return integer.pipe(z.number().min(min).max(max));
}

/** `true`, `false`, `1` or `0`, in any case. */
export const boolean = z.stringbool({ truthy: ["true", "1"], falsy: ["false", "0"] });

const DAY_MS = 86_400_000;
/** The farthest moment that a Date holds, either way from the epoch. */
const EPOCH_MS_MAX = 8.64e15;

const EPOCH_MS = within(-EPOCH_MS_MAX, EPOCH_MS_MAX);
const DAY = z.iso.date().transform((day) => Date.parse(day));
const TIME = z
  .string()
  .regex(/^.{10}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?$/)
  // Date.parse takes the 30th of February for the 2nd of March.
  .refine((time) => DAY.safeParse(time.slice(0, 10)).success)
  .transform((time) => Date.parse(/Z|[+-]/.test(time.slice(10)) ? time : `${time}Z`))
  .pipe(z.int());

/** Epoch milliseconds, or ISO 8601: a day (its first moment, UTC) or a time (UTC unless it says). */
export const date = z.union([EPOCH_MS, DAY, TIME]);

/** As `date`, but a bare day means its last moment: both ends of a range are inclusive. */
export const endDate = z.union([EPOCH_MS, DAY.transform((ms) => ms + DAY_MS - 1), TIME]);

/** Text of at most `max` characters. A character is a Unicode code point: an emoji counts once. */
export function atMost(max: number) {
  return z.string().refine((text) => {
    // No text has more code points than UTF-16 units: the cheap count settles nearly all.
    if (text.length <= max || text.length > max * 2) return text.length <= max;
    return Array.from(text).length <= max;
  });
}

/** `/` or `/A/B`: no empty names, no control characters. */
export const folderPath = z.string().regex(/^(?:\/|(?:\/[^/\p{Cc}]+)+)$/u);
