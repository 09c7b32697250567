/** The expiry date of a document. It cannot be taken back, so what is doubtful holds the document. */
import type { AttributeExpiry } from "../domain/attributes.ts";
import { dayOf, existing, formatPeriod, isoDay, later, noonOf, partsOfDay } from "./dates.ts";
import { Hold } from "./hold.ts";
import { matchPattern } from "./pattern.ts";
import type { DateForm, ExpiryFrom, ExpiryGuards, ExpiryRule } from "./rules.ts";
import type { Facts } from "./values.ts";

type Dated = { readonly at: number; readonly from: string };

/** The last moment that every form can write. */
const AT_MAX = Date.UTC(9999, 11, 30);

/** The expiry date by the rule; undefined where there is to be none. Throws `Hold` where none can be told. */
export function expiryOf(
  guards: ExpiryGuards,
  rule: ExpiryRule,
  facts: Facts,
  path: string,
): AttributeExpiry | undefined {
  const dated = dateOf(rule, facts, path);
  if (dated === "none") return undefined;
  if ("unknown" in dated) {
    if (guards.unknown === "upload-without") return undefined;
    throw new Hold("EXPIRY_UNKNOWN", dated.unknown);
  }
  const day = utcDay(dated.at);
  if (dated.at > AT_MAX) throw new Hold("EXPIRY_UNKNOWN", `${dated.from} is after the year 9999`);
  if (dated.at < later(facts.at, guards.minimum)) {
    const least = formatPeriod(guards.minimum);
    const message = `it would expire on ${isoDay(day)} (${dated.from}), sooner than ${least} from now`;
    throw new Hold("EXPIRY_TOO_SOON", message);
  }
  const { withoutPlugin } = guards;
  return { ...dated, sent: written(dated.at, guards.form), withoutPlugin };
}

function dateOf(
  { after, from }: ExpiryRule,
  facts: Facts,
  path: string,
): Dated | { readonly unknown: string } | "none" {
  const said = facts.answer?.expires;
  if (said === "never") return "none";
  const day = said === undefined ? undefined : dayOf(said);
  if (day) return { at: noonOf(day), from: "as the hook says" };
  if (after === "never") return "none";
  if (from.kind === "sidecar") return fromNotes(after, facts);
  if (after === null) return "none";
  const start = startOf(from, facts, path);
  if (typeof start !== "number") return start;
  const at = later(start, after);
  const words = `${formatPeriod(after)} after ${WORDS[from.kind]}`;
  // A file system may have room for times that no date can hold.
  return Number.isNaN(at) ? { unknown: `${words} is no date` } : { at, from: words };
}

const WORDS = {
  uploaded: "it was uploaded",
  modified: "its file was modified",
  name: "the date in its name",
} as const;

function startOf(
  from: Exclude<ExpiryFrom, { kind: "sidecar" }>,
  facts: Facts,
  path: string,
): number | { readonly unknown: string } {
  if (from.kind === "uploaded") return facts.at;
  if (from.kind === "modified") return facts.modifiedAt;
  const found = matchPattern(from.pattern, path);
  if (found.kind === "slow") {
    throw new Hold("PATTERN_SLOW", `the pattern ${from.pattern} takes too long on this path`);
  }
  const { date, year, month = "1", day = "1" } = found.kind === "groups" ? found.groups : {};
  const written = date === undefined ? undefined : dayOf(date);
  const parts =
    year === undefined
      ? undefined
      : existing({ year: Number(year), month: Number(month), day: Number(day) });
  const start = written ?? parts;
  return start ? noonOf(start) : { unknown: `there is no date in its name by ${from.pattern}` };
}

/** The date itself, or what to count from. */
function fromNotes(
  after: ExpiryRule["after"],
  { sidecar }: Facts,
): Dated | { readonly unknown: string } | "none" {
  if (sidecar?.expires === "never") return "none";
  const expires = sidecar?.expires === undefined ? undefined : dayOf(sidecar.expires);
  if (expires) return { at: noonOf(expires), from: "as the sidecar says" };
  const date = sidecar?.date === undefined ? undefined : dayOf(sidecar.date);
  if (date && after !== null && after !== "never") {
    return {
      at: later(noonOf(date), after),
      from: `${formatPeriod(after)} after the date in the sidecar`,
    };
  }
  return { unknown: "no sidecar says when it expires" };
}

function utcDay(at: number) {
  const moment = new Date(at);
  return {
    year: moment.getUTCFullYear(),
    month: moment.getUTCMonth() + 1,
    day: moment.getUTCDate(),
  };
}

/** What is sent: milliseconds, `2033-11-20`, `2033-11-20T12:00:00.000Z` or `20.11.2033`; in UTC. */
function written(at: number, form: DateForm): number | string {
  if (form === "ms") return at;
  if (form === "datetime") return new Date(at).toISOString();
  const { year, month, day } = partsOfDay(utcDay(at));
  return form === "date" ? `${year}-${month}-${day}` : `${day}.${month}.${year}`;
}
