/** What the daemon keeps of its own, and for how long: the journal and the log. */
import { section, setting } from "./kind.ts";
import { choice, duration, givenName, wholeNumber } from "./kinds.ts";
import { postgresUrl } from "./journal-place.ts";
import { localPath } from "./place-kinds.ts";
import { size } from "./size.ts";
import { z } from "zod";
import type { ReceiptFormat } from "../receipts/receipt-folder.ts";

/** The keys of the journal: where it is, and how long it keeps what. */
export const journalSchema = section(
  {
    path: setting(localPath().optional(), {
      meaning: "The journal's file, on a local disk and outside every source.",
      example: "./journal.db",
      without: "`/var/lib/scanferry/journal.db`",
    }),
    url: setting(postgresUrl().optional(), {
      meaning:
        "A PostgreSQL database instead of a file; `?schema=` names the schema (`scanferry`). See " +
        "[postgres.md](postgres.md).",
      example: "postgres://scanferry@db.example.com:5432/scans?sslmode=verify-full",
      without: "a file",
    }),
    passwordFile: setting(localPath().optional(), {
      meaning: "The file of its password.",
      example: "journal.password",
      without: "`$SCANFERRY_JOURNAL_PASSWORD`, or none",
    }),
    lease: setting(duration("5s", "10m").prefault("15s"), {
      meaning:
        "With `url`: if a daemon does not respond for this long, others take over its work. It sends nothing " +
        "any more by then.",
      example: "30s",
    }),
    instance: setting(givenName().optional(), {
      meaning: "With `url`: this daemon's name.",
      example: "office-2",
      without: "the host's name",
    }),
    retain: setting(duration("1d", "100y").optional(), {
      meaning:
        "How long details are kept. After that, only the digest of converted documents whose file is gone is " +
        "kept, and no old history of others.",
      example: "3y",
      without: "for ever",
    }),
    remember: setting(duration("1d", "100y").prefault("30y"), {
      meaning:
        "With `retain`: how much longer digests are kept, so that a file that comes back is not sent again.",
      example: "10y",
    }),
  },
  "`journal: FILE` is short for `journal: { path: FILE }`, `journal: postgres://…` for `journal: { " +
    "url: … }`.",
);

/** The keys of the log. */
export const logSchema = section(
  {
    level: setting(
      choice("trace", "debug", "info", "warn", "error", "fatal", "silent").prefault("info"),
      {
        meaning:
          "The least important lines that are logged. At `info` each document has two lines (uploaded, " +
          "converted), at `debug` one for each step.",
        example: "debug",
      },
    ),
    file: setting(localPath().optional(), {
      meaning: "A rotated log file, on a local disk and outside every source.",
      example: "/var/log/scanferry/scanferry.log",
      without: "the standard output",
    }),
    keep: section(
      {
        size: setting(size("64KB", "10GB").prefault("10MB"), {
          meaning: "A new file is started before it grows larger than this.",
          example: "50MB",
        }),
        files: setting(wholeNumber(0, 1_000).prefault(5), {
          meaning: "How many older files are kept (`FILE.1` is the latest).",
          example: "10",
        }),
      },
      "How much of `log.file` is kept.",
    ),
  },
  "The log.",
);

/** Every form that a receipt is written in. */
export const RECEIPT_FORMATS: readonly ReceiptFormat[] = ["json", "html"];

/** The keys of `receipts`. */
export const receiptsSchema = section(
  {
    dir: setting(localPath(), {
      meaning: "The folder, on a local disk and outside every source.",
      example: "./receipts",
      required: true,
    }),
    formats: setting(z.array(choice("json", "html")).min(1).prefault(["json", "html"]), {
      meaning: "The files of each receipt: `json` for machines, `html` to print.",
      example: "[html]",
    }),
  },
  "`receipts: DIR` is short for `receipts: { dir: DIR }`.",
);
