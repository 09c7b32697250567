/** `upload`, `batch`, `quota`, `conversion`, `schedule`: how documents are sent, and how often something is tried. */
import { z } from "zod";
import type { PagePolicy } from "../domain/allowance.ts";
import { formatDuration } from "../std/units.ts";
import { section, setting, settings } from "./kind.ts";
import { choice, cron, duration, givenName, sendingHours, size, wholeNumber } from "./kinds.ts";

/** An interval that grows after every attempt, with jitter. */
function interval(first: string, most: string, what: string) {
  return section(
    {
      initial: setting(duration("1ms", "31d").prefault(first), { meaning: "The first interval." }),
      max: setting(duration("1ms", "31d").prefault(most), { meaning: "The longest interval." }),
    },
    what,
    ({ initial, max }, at) => {
      if (initial === undefined || max === undefined || initial <= max) return;
      const message = `${formatDuration(initial)} is longer than max (${formatDuration(max)})`;
      at.report("initial", message, "make initial shorter, or max longer");
    },
  );
}

/** `upload`. */
export const uploadSchema = section(
  {
    concurrency: setting(wholeNumber(1, 64).prefault(4), {
      meaning:
        "Uploads at the same time to each archive. Halved while the archive is busy (HTTP 429, 503, " +
        "timeouts).",
    }),
    bandwidth: setting(size("1KB", "100GB").optional(), {
      meaning: "Bytes per second for all uploads together.",
      example: "2MB",
      without: "no limit",
    }),
    hours: setting(sendingHours().optional(), {
      meaning: "When uploads may start, in the host's time zone. Uploads in progress are finished.",
      example: '"18:00-07:00, 12:00-13:00"',
      without: "at all hours",
    }),
    retry: interval("1s", "5m", "When a failed upload is tried again."),
    doubt: section(
      {
        window: setting(duration("1ms", "1d").prefault("60s"), {
          meaning:
            "How long scanferry looks for it before it sends it again: longer than the archive needs to show a " +
            "new document.",
        }),
        tolerance: setting(duration("0", "1d").prefault("60s"), {
          meaning: "How much the archive's clocks may differ.",
        }),
      },
      "If the reply to an upload is lost.",
    ),
  },
  "Sending.",
);

/** `batch`. */
export const batchSchema = section(
  {
    quiet: setting(duration("0", "1d").prefault("5s"), {
      meaning: "A batch is closed when no document came for this long.",
    }),
    maxDocuments: setting(wholeNumber(1, 10_000).prefault(200), {
      meaning: "The most documents of a batch.",
    }),
  },
  "Documents that arrive together get one batch.",
);

/** More than anyone buys; a bound for attributes. */
const PAGES_MAX = 1_000_000_000;

const reserve = section(
  {
    pages: setting(wholeNumber(0, PAGES_MAX).prefault(0), {
      meaning: "How many pages of each month.",
      example: "500",
    }),
    mirrors: setting(z.array(givenName()).prefault([]), {
      meaning: "The mirrors that may use them.",
      example: "[contracts]",
    }),
  },
  "Pages that only some mirrors may use. When the others have used the rest, they wait for the next " +
    "month.",
  ({ pages = 0, mirrors = [] }, at) => {
    if (pages > 0 && mirrors.length === 0)
      at.report("mirrors", "is missing", "write e.g. mirrors: [contracts]");
    if (pages === 0 && mirrors.length > 0)
      at.report("pages", "is missing", "write e.g. pages: 500");
  },
);

/** `quota`. */
export const quotaSchema = section(
  {
    retry: interval(
      "5m",
      "6h",
      "How often one document tests whether the archive accepts pages again.",
    ),
    retryAt: setting(cron().default("5 6 1 * *"), {
      meaning:
        "An additional time at which one document tests this, by default soon after the month begins.",
      example: '"0 30 5 * * 1"',
    }),
    monthlyPages: setting(wholeNumber(1, PAGES_MAX).optional(), {
      meaning:
        "The A4 pages that the account may upload in a month. Warnings come at 80 % and 100 %.",
      example: "5000",
      without: "no warnings",
    }),
    monthBegins: setting(wholeNumber(1, 28).prefault(1), {
      meaning: "The day on which the account's month begins, at midnight in the host's time zone.",
    }),
    whenUsedUp: setting(choice("warn", "hold").prefault("warn"), {
      meaning:
        "When `monthlyPages` is used up: `warn` continues until the archive refuses; `hold` waits for the " +
        "next month.",
    }),
    reserve,
  },
  "The account's page allowance. See [budget.md](budget.md).",
  ({ reserve, monthlyPages }, at) => {
    const { pages = 0 } = reserve ?? {};
    const key = ["reserve", "pages"];
    if (pages > 0 && monthlyPages === undefined)
      at.report(key, "has no monthlyPages to be taken from", "write e.g. monthlyPages: 5000");
    if (pages > (monthlyPages ?? pages))
      at.report(key, `${pages} is more than monthlyPages (${monthlyPages})`, "reserve fewer pages");
  },
);

/** `conversion`. */
export const conversionSchema = section(
  {
    poll: interval("2s", "5m", "How often scanferry asks whether documents are CONVERTED."),
    maxOutstanding: setting(wholeNumber(1, 1_000_000).optional(), {
      meaning:
        "While this many documents of an account are uploaded and not yet CONVERTED, nothing new is sent.",
      example: "500",
      without: "no limit",
    }),
    stuckAfter: setting(duration("1ms", "365d").prefault("24h"), {
      meaning: "A document that is not CONVERTED by then is reported (`CONVERSION_STUCK`).",
    }),
  },
  "The wait from upload to CONVERTED.",
);

/** `schedule`. */
export const scheduleSchema = section(
  {
    rescan: setting(cron().default("*/10 * * * *"), {
      meaning: "When every source is scanned completely.",
      example: '"0 * * * *"',
    }),
  },
  "Scheduled work.",
);

function intervalOf({ initial, max }: { initial: number; max: number }) {
  return { initialMs: initial, maxMs: max };
}

/** `upload`: what may be sent at the same time, how fast and when, and what a lost reply costs. */
export function uploadOf({ bandwidth, retry, doubt, ...rest }: z.output<typeof uploadSchema>) {
  return settings({
    ...rest,
    bytesPerSecond: bandwidth,
    retry: intervalOf(retry),
    doubt: { windowMs: doubt.window, toleranceMs: doubt.tolerance },
  });
}

/** `batch`. */
export function batchOf({ quiet, maxDocuments }: z.output<typeof batchSchema>) {
  return { quietMs: quiet, maxDocuments };
}

/** `quota`: when an account that has no pages left is asked again, and what is done about pages. */
export function quotaOf(quota: z.output<typeof quotaSchema>) {
  const { retry, retryAt, reserve, ...policy } = quota;
  const pages: PagePolicy = { ...policy, reserve: reserve.pages > 0 ? reserve : undefined };
  return settings({ retry: intervalOf(retry), retryAt, pages });
}

/** `conversion`. */
export function conversionOf({
  poll,
  stuckAfter,
  maxOutstanding,
}: z.output<typeof conversionSchema>) {
  const times = { poll: intervalOf(poll), stuckAfterMs: stuckAfter };
  return settings({ ...times, outstandingMax: maxOutstanding });
}
