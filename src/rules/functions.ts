/** What a template may do to a value. Each is total: any text in, a text or nothing out. */
import { dayOf, partsOfDay } from "./dates.ts";

type Fn = {
  /** What is wrong with what it is given; undefined when nothing is. Asked when it is parsed. */
  readonly check: (given: readonly string[]) => string | undefined;
  /** Undefined: the value has no such part, and so the placeholder has none. */
  readonly apply: (value: string, given: readonly string[]) => string | undefined;
};

const TRUNCATE_MAX = 10_000;

const none = (given: readonly string[]) => (given.length === 0 ? undefined : "takes nothing");
const one = (given: readonly string[]) => (given.length === 1 ? undefined : "takes one text");
const mark = (given: readonly string[]) =>
  one(given) ?? (given[0] === "" ? "takes a text that is not empty" : undefined);

const plain = (apply: (value: string) => string | undefined): Fn => ({ check: none, apply });

const datePart = (part: "year" | "month" | "day" | "quarter"): Fn =>
  plain((value) => {
    const day = dayOf(value);
    return day && partsOfDay(day)[part];
  });

/** By the names that templates call them. */
export const FUNCTIONS = {
  upper: plain((value) => value.toUpperCase()),
  lower: plain((value) => value.toLowerCase()),
  capitalize: plain((value) =>
    value.toLowerCase().replace(/(^|[\s\p{Pd}])(\p{L})/gu, (_, before: string, letter: string) => {
      return before + letter.toUpperCase();
    }),
  ),
  trim: plain((value) => value.trim()),
  truncate: {
    check: (given) => {
      const wanted = `takes a number of characters, 1 to ${TRUNCATE_MAX}`;
      const [count = ""] = given;
      const fits = given.length === 1 && /^[1-9]\d{0,4}$/.test(count) && +count <= TRUNCATE_MAX;
      return fits ? undefined : wanted;
    },
    apply: (value, [count = "1"]) => truncated(value, Number(count)),
  },
  replace: {
    check: (given) => {
      if (given.length === 2 && given[0] !== "") return undefined;
      return 'takes two texts, e.g. replace "_" " "';
    },
    apply: (value, [from = "", to = ""]) =>
      from === "" ? value : value.replaceAll(from, () => to),
  },
  before: { check: mark, apply: (value, [first = ""]) => value.split(first, 1)[0] ?? "" },
  after: {
    check: mark,
    apply: (value, [first = ""]) => {
      const at = value.indexOf(first);
      return at < 0 ? undefined : value.slice(at + first.length);
    },
  },
  default: { check: one, apply: (value) => value },
  year: datePart("year"),
  month: datePart("month"),
  day: datePart("day"),
  quarter: datePart("quarter"),
  date: plain((value) => {
    const day = dayOf(value);
    return day && `${partsOfDay(day).year}-${partsOfDay(day).month}-${partsOfDay(day).day}`;
  }),
} as const satisfies Record<string, Fn>;

/** As templates write it, behind a bar; docs/rules.md has what each does. */
export type FunctionName = keyof typeof FUNCTIONS;

/** True for the name of a function. */
export function isFunction(name: string): name is FunctionName {
  return Object.hasOwn(FUNCTIONS, name);
}

/** At most `max` UTF-16 units, which no way of counting characters takes for more; none split in two. */
export function truncated(value: string, max: number): string {
  if (value.length <= max) return value;
  const cut = value.slice(0, max);
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}
