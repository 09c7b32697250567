import type { Reply } from "./exchange.ts";

/** However long the archive asks us to wait, after a day we look again. */
const RETRY_AFTER_MS_MAX = 86_400_000;

/** Dates in headers begin with the day's name; `Date.parse` alone takes almost anything. */
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/** The moment in the Date header, epoch milliseconds, exact to a second. */
export function dateOf(headers: Reply["headers"]): number | undefined {
  return httpDate(headers["date"]);
}

/** What Retry-After asks for, milliseconds in [0, 1 day]; by the archive's clock where known. */
export function retryAfterMsOf(headers: Reply["headers"], now: number): number | undefined {
  const value = headers["retry-after"];
  if (typeof value !== "string") return undefined;
  const asked = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : undefined;
  const at = httpDate(value);
  const ms = asked ?? (at === undefined ? undefined : at - (dateOf(headers) ?? now));
  return ms === undefined ? undefined : Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX);
}

function httpDate(value: string | string[] | undefined): number | undefined {
  if (typeof value !== "string" || !HTTP_DATE.test(value)) return undefined;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : ms;
}
