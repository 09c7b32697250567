/**
 * Every key of the configuration file, declared once: what it may be, its default, what it means.
 * Reading, checking and `docs/config.md` all come from here. A new key is one more entry here (for
 * a mirror: in `mirror-schema.ts`), a field in `config.ts`, and the line in `build-config.ts` that
 * carries it over; the starter must show it, or a test says so.
 */
import { z } from "zod";
import type { Period } from "../rules/dates.ts";
import type { ExpiryFrom } from "../rules/rules.ts";
import type { Template } from "../rules/template.ts";
import { archiveSchema, archivesSchema } from "./archive-schema.ts";
import { cron } from "./cron.ts";
import { section, setting } from "./kind.ts";
import { duration, secret, switchedOff, wholeNumber } from "./kinds.ts";
import { journalPlace } from "./journal-place.ts";
import { journalSchema, logSchema, receiptsSchema } from "./keeping-schema.ts";
import { pageKeys } from "./page-schema.ts";
import { mirrorSchema } from "./mirror-schema.ts";
import { notifySchema } from "./notify.ts";
import { hostName, listenAddress, localPath } from "./place-kinds.ts";
import { sendingHours } from "./sending-hours.ts";
import { size } from "./size.ts";

/** An interval that grows after every attempt, with jitter. */
function interval(first: string, most: string, what: string) {
  return section(
    {
      initial: setting(duration("1ms", "31d").prefault(first), {
        meaning: "The first interval.",
        example: first,
      }),
      max: setting(duration("1ms", "31d").prefault(most), {
        meaning: "The longest interval.",
        example: most,
      }),
    },
    what,
  );
}

const quota = section(
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
    ...pageKeys,
  },
  "The account's page allowance. See [budget.md](budget.md).",
);

const conversion = section(
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
      example: "12h",
    }),
  },
  "The wait from upload to CONVERTED.",
);

/** The whole file. */
export const fileSchema = section(
  {
    archive: archiveSchema.optional(),
    archives: archivesSchema,
    mirrors: setting(z.array(mirrorSchema).min(1), {
      meaning: "The mirrors, one or more.",
      example: "[{ source: /srv/scans, target: /Scans }]",
      required: true,
    }),
    journal: setting(z.union([journalPlace(), journalSchema]), {
      meaning: "Its file, its PostgreSQL URL, or its keys.",
      example: "./journal.db",
    }),
    upload: section(
      {
        concurrency: setting(wholeNumber(1, 64).prefault(4), {
          meaning:
            "Uploads at the same time to each archive. Halved while the archive is busy (HTTP 429, 503, " +
            "timeouts).",
          example: "8",
        }),
        bandwidth: setting(size("1KB", "100GB").optional(), {
          meaning: "Bytes per second for all uploads together.",
          example: "2MB",
          without: "no limit",
        }),
        hours: setting(sendingHours().optional(), {
          meaning:
            "When uploads may start, in the host's time zone. Uploads in progress are finished.",
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
              example: "5m",
            }),
            tolerance: setting(duration("0", "1d").prefault("60s"), {
              meaning: "How much the archive's clocks may differ.",
              example: "5m",
            }),
          },
          "If the reply to an upload is lost.",
        ),
      },
      "Sending.",
    ),
    batch: section(
      {
        quiet: setting(duration("0", "1d").prefault("5s"), {
          meaning: "A batch is closed when no document came for this long.",
          example: "30s",
        }),
        maxDocuments: setting(wholeNumber(1, 10_000).prefault(200), {
          meaning: "The most documents of a batch.",
          example: "50",
        }),
      },
      "Documents that arrive together get one batch.",
    ),
    quota,
    conversion,
    schedule: section(
      {
        rescan: setting(cron().default("*/10 * * * *"), {
          meaning: "When every source is scanned completely.",
          example: '"0 * * * *"',
        }),
      },
      "Scheduled work.",
    ),
    web: setting(
      z.union([
        switchedOff(),
        section(
          {
            listen: setting(listenAddress().prefault("127.0.0.1:8470"), {
              meaning:
                "The address of the page, `/healthz`, `/readyz` and `/metrics`. Port 0: any free port.",
              example: '"[::1]:8470"',
            }),
            names: setting(z.array(hostName()).prefault([]), {
              meaning:
                "The names that browsers use, behind a reverse proxy. The token is then always required.",
              example: "[scans.example.com]",
            }),
            token: setting(secret().optional(), {
              meaning:
                "Required to open the page and read `/metrics` from other hosts; on this host too if it is set.",
              example: '"…"',
              without: "`tokenFile`, else `$SCANFERRY_WEB_TOKEN`, else none",
            }),
            tokenFile: setting(localPath().optional(), {
              meaning: "Its file; 16 characters or more.",
              example: "/etc/scanferry/web.token",
            }),
          },
          "The web page.",
        ),
      ]),
      { meaning: "The web page; `off`: none.", example: "off" },
    ),
    notify: notifySchema,
    log: logSchema,
    receipts: setting(z.union([localPath(), receiptsSchema]).optional(), {
      meaning: "Receipts: the folder, or the keys.",
      example: "/var/lib/scanferry/receipts",
      without: "no receipts are written; `scanferry receipt BATCH` prints one",
    }),
    shutdown: setting(duration("0", "1h").prefault("20s"), {
      meaning: "How long a stop waits for uploads in progress before it cancels them safely.",
      example: "1m",
    }),
  },
  "The whole file.",
);

/** The file as it was read: every default filled in, paths as written, secrets not yet looked up. */
export type FileShape = z.output<typeof fileSchema>;

/** The same, as far as it could be read: what is missing or wrong is left out. */
export type Sketch = Partly<FileShape>;

/** Values that are read whole or not at all. */
type Whole = Template | ExpiryFrom | Period;

type Partly<T> = T extends Whole
  ? T
  : T extends readonly (infer Item)[]
    ? Partly<Item>[]
    : T extends object
      ? { [K in keyof T]?: Partly<T[K]> | undefined }
      : T;
