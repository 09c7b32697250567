/** What the daemon keeps of its own, and for how long: the journal and the log. */
import { section, setting } from "./kind.ts";
import { choice, duration, givenName, wholeNumber } from "./kinds.ts";
import { postgresUrl } from "./journal-place.ts";
import { localPath } from "./places.ts";
import { size } from "./size.ts";

/** The keys of the journal: where it is, and how long it keeps what. */
export const journalSchema = section(
  {
    path: setting(localPath().optional(), {
      meaning:
        "The file of the journal: what was seen, sent and converted. On a local disk, outside of every source.",
      example: "./journal.db",
      without: "`/var/lib/scanferry/journal.db`, unless there is a `url`",
    }),
    url: setting(postgresUrl().optional(), {
      meaning:
        "In place of `path`: a PostgreSQL database (14 or later) that holds the journal, for several daemons " +
        "that share it. `?schema=` names the schema of its tables (`scanferry`); sockets and `sslmode`: " +
        "[operations.md](operations.md#a-journal-in-postgresql).",
      example: "postgres://scanferry@db.example.com:5432/scans?sslmode=verify-full",
      without: "the journal is a file",
    }),
    passwordFile: setting(localPath().optional(), {
      meaning: "With `url`: the file that the password is in.",
      example: "journal.password",
      without: "`$SCANFERRY_JOURNAL_PASSWORD`, or none",
    }),
    lease: setting(duration("5s", "10m").prefault("15s"), {
      meaning:
        "With `url`: a daemon that gives no sign of life for so long is thought dead by the others, which " +
        "take over from it. It sends nothing any more by then.",
      example: "30s",
    }),
    instance: setting(givenName().optional(), {
      meaning: "With `url`: what this daemon is called among those that share the journal.",
      example: "office-2",
      without: "the host's name",
    }),
    retain: setting(duration("1d", "100y").optional(), {
      meaning:
        "How long details are kept: of documents whose file is gone and whose conversion is both " +
        "longer ago everything but a short remembrance is dropped, of those whose file is there the " +
        "attempts and the older history. Nothing that is still to be done is ever dropped.",
      example: "3y",
      without: "for ever",
    }),
    remember: setting(duration("1d", "100y").prefault("30y"), {
      meaning:
        "With `retain`: for how much longer the contents are remembered, so that a file that comes " +
        "back is known to be in the archive and is not sent again.",
      example: "10y",
    }),
  },
  "The journal. `journal: FILE` is short for `journal: { path: FILE }`, and `journal: postgres://…` for `journal: { url: … }`.",
);

/** The keys of the log. */
export const logSchema = section(
  {
    level: setting(
      choice("trace", "debug", "info", "warn", "error", "fatal", "silent").prefault("info"),
      {
        meaning:
          "The least important lines that are logged. A document that goes as it should has two at " +
          "`info`, uploaded and converted; at `debug` every step of it, and receipts.",
        example: "debug",
      },
    ),
    file: setting(localPath().optional(), {
      meaning:
        "A file of its own for the log, on a local disk and outside of every source, which is rotated. " +
        "What it cannot take, on a full disk say, goes to the standard output; a share that hangs " +
        "would stop the daemon.",
      example: "/var/log/scanferry/scanferry.log",
      without: "the standard output, which systemd or docker keep and rotate",
    }),
    keep: section(
      {
        size: setting(size("64KB", "10GB").prefault("10MB"), {
          meaning: "The file begins anew before it grows larger than this.",
          example: "50MB",
        }),
        files: setting(wholeNumber(0, 1_000).prefault(5), {
          meaning: "How many older files are kept: `FILE.1` is the latest of them.",
          example: "10",
        }),
      },
      "How much of `log.file` is kept.",
    ),
  },
  "Logging.",
);
