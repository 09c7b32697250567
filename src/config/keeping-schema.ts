/** What the daemon keeps of its own, and for how long: the journal and the log. */
import { section, setting } from "./kind.ts";
import { choice, duration, wholeNumber } from "./kinds.ts";
import { localPath } from "./places.ts";
import { size } from "./size.ts";

/** The keys of the journal: where it is, and how long it keeps what. */
export const journalSchema = section(
  {
    path: setting(localPath().prefault("/var/lib/scanferry/journal.db"), {
      meaning:
        "The file of the journal: what was seen, sent and converted. On a local disk, outside of every source.",
      example: "./journal.db",
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
  "The journal. `journal: FILE` is short for `journal: { path: FILE }`.",
);

/** The keys of the log. */
export const logSchema = section(
  {
    level: setting(
      choice("trace", "debug", "info", "warn", "error", "fatal", "silent").prefault("info"),
      { meaning: "The least important lines that are logged.", example: "debug" },
    ),
    file: setting(localPath().optional(), {
      meaning:
        "A file of its own for the log, outside of every source, which is rotated. What it cannot " +
        "take, on a full disk say, goes to the standard output.",
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
