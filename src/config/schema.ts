/**
 * Every key of the configuration file, declared once: what it may be, its default, what it means.
 * Reading, checking and `docs/config.md` all come from here. A new key is one more entry here (for
 * a mirror: in `mirror-schema.ts`), a field in `config.ts`, and the line in `build-config.ts` that
 * carries it over; the starter must show it, or a test says so.
 */
import { z } from "zod";
import type { Period } from "../rules/calendar.ts";
import type { ExpiryFrom } from "../rules/rules.ts";
import type { Template } from "../rules/template.ts";
import { archiveSchema, archivesSchema } from "./archive-schema.ts";
import { cron } from "./cron.ts";
import { section, setting } from "./kind.ts";
import { duration, secret, switchedOff, wholeNumber } from "./kinds.ts";
import { journalPlace } from "./journal-place.ts";
import { journalSchema, logSchema } from "./keeping-schema.ts";
import { pageKeys } from "./page-schema.ts";
import { mirrorSchema } from "./mirror-schema.ts";
import { notifySchema } from "./notify-schema.ts";
import { hostName, listenAddress, localPath } from "./places.ts";
import { receiptsSchema } from "./receipts-schema.ts";
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
        meaning: "It grows no longer than this.",
        example: most,
      }),
    },
    what,
  );
}

const quota = section(
  {
    retry: interval("5m", "6h", "How often a spent quota is probed, with one document."),
    retryAt: setting(cron().default("5 6 1 * *"), {
      meaning: "When to probe besides: soon after the quota is renewed each month, by default.",
      example: '"0 30 5 * * 1"',
    }),
    ...pageKeys,
  },
  "The account's page allowance: what is reckoned with here, and what happens when the archive says " +
    "QUOTA_LIMIT: nothing is sent, and one document probes. See [budget.md](budget.md).",
);

const conversion = section(
  {
    poll: interval("2s", "5m", "How often the archive is asked whether documents are CONVERTED."),
    maxOutstanding: setting(wholeNumber(1, 1_000_000).optional(), {
      meaning:
        "While so many documents are uploaded and not yet CONVERTED, nothing new is sent; it goes on " +
        "below that. Of a whole account: each of several archives has its own.",
      example: "500",
      without: "no ceiling",
    }),
    stuckAfter: setting(duration("1ms", "365d").prefault("24h"), {
      meaning: "A document that is not CONVERTED after this long is reported as stuck.",
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
      meaning: "The journal: its file or its PostgreSQL URL alone, or its keys.",
      example: "./journal.db",
    }),
    upload: section(
      {
        concurrency: setting(wholeNumber(1, 64).prefault(4), {
          meaning:
            "Uploads at the same time, at most, to each archive. Where one asks for patience (HTTP 429, 503, " +
            "timeouts) it is halved, and grows back with what is accepted.",
          example: "8",
        }),
        bandwidth: setting(size("1KB", "100GB").optional(), {
          meaning: "Bytes a second that uploads may take, all of them together.",
          example: "2MB",
          without: "no limit",
        }),
        hours: setting(sendingHours().optional(), {
          meaning:
            "When uploads may begin, in the host's time zone; what is under way is finished. All else " +
            "goes on at all hours.",
          example: '"18:00-07:00, 12:00-13:00"',
          without: "at all hours",
        }),
        retry: interval("1s", "5m", "How soon a failed upload is tried again."),
        doubt: section(
          {
            window: setting(duration("1ms", "1d").prefault("60s"), {
              meaning:
                "How long a document is looked for in its folder after its reply was lost. Only " +
                "then is it sent again: longer than the archive may take to show what it stored.",
              example: "5m",
            }),
            tolerance: setting(duration("0", "1d").prefault("60s"), {
              meaning:
                "How far the archive's clock and this one may differ beyond what its replies tell.",
              example: "5m",
            }),
          },
          "When the reply to an upload is lost.",
        ),
      },
      "Sending.",
    ),
    batch: section(
      {
        quiet: setting(duration("0", "1d").prefault("5s"), {
          meaning: "A batch is closed when no further document came for this long.",
          example: "30s",
        }),
        maxDocuments: setting(wholeNumber(1, 10_000).prefault(200), {
          meaning: "A batch holds no more documents than this.",
          example: "50",
        }),
      },
      "Documents that arrive together are sent under one batch.",
    ),
    quota,
    conversion,
    schedule: section(
      {
        rescan: setting(cron().default("*/10 * * * *"), {
          meaning:
            "When every source is walked in full, whatever events said: five cron fields, or six " +
            "with seconds first; in the host's time zone.",
          example: '"0 * * * *"',
        }),
      },
      "What happens at set times.",
    ),
    web: setting(
      z.union([
        switchedOff(),
        section(
          {
            listen: setting(listenAddress().prefault("127.0.0.1:8470"), {
              meaning:
                "Where the page, `/healthz`, `/readyz` and `/metrics` are served. Port 0 is any free one.",
              example: '"[::1]:8470"',
            }),
            names: setting(z.array(hostName()).prefault([]), {
              meaning:
                "Names that people call the page by where a reverse proxy stands before it. It then asks " +
                "everybody for the token.",
              example: "[scans.example.com]",
            }),
            token: setting(secret().optional(), {
              meaning:
                "Whoever opens the page or reads `/metrics` must know it. Beyond loopback nothing " +
                "but `/healthz` and `/readyz` is served without one.",
              example: '"…"',
              without: "`tokenFile`, else `$SCANFERRY_WEB_TOKEN`, else none",
            }),
            tokenFile: setting(localPath().optional(), {
              meaning: "The file that holds the token, of 16 characters or more.",
              example: "/etc/scanferry/web.token",
            }),
          },
          "The daemon's web page.",
        ),
      ]),
      { meaning: "The daemon's web page; `web: off` serves none.", example: "off" },
    ),
    notify: notifySchema,
    log: logSchema,
    receipts: setting(z.union([localPath(), receiptsSchema]).optional(), {
      meaning:
        "A receipt for each batch, written once all of its documents are CONVERTED: the folder alone, " +
        "or its keys.",
      example: "/var/lib/scanferry/receipts",
      without: "no receipts are written; `scanferry receipt BATCH` prints one",
    }),
    shutdown: setting(duration("0", "1h").prefault("20s"), {
      meaning: "How long a stop waits for what is in flight before it is safely abandoned.",
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
