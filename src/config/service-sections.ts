/** `journal`, `web`, `log`, `receipts`: what the daemon keeps, shows and writes. */
import { isIP } from "node:net";
import { z } from "zod";
import { isPostgres, type JournalPlace } from "../network/journal-place.ts";
import type { ReceiptFormat } from "../receipts/receipt-folder.ts";
import { invariant } from "../std/fault.ts";
import { isLoopback } from "../std/web-caller.ts";
import { section, setting, settings, shortened, type Sketch } from "./kind.ts";
import { choice, duration, givenName, secret, size, wholeNumber } from "./kinds.ts";
import { hostName, listener, localPath, postgresUrl, secretKeys } from "./place-kinds.ts";

/** The keys of the journal: where it is, and how long it keeps what. */
const journalKeys = section(
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
    ...secretKeys("password", secret(), {
      meaning: "Its password, which may also stand in `url`.",
      file: "journal.password",
      variable: "SCANFERRY_JOURNAL_PASSWORD",
      otherwise: "none",
      need: ({ url }) => (url === undefined ? "unused" : "optional"),
    }),
    lease: setting(duration("5s", "10m").prefault("15s"), {
      meaning:
        "With `url`: if a daemon does not respond for this long, others take over its work. It sends nothing " +
        "any more by then.",
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
    }),
  },
  "`journal: FILE` is short for `journal: { path: FILE }`, `journal: postgres://…` for `journal: { " +
    "url: … }`.",
  ({ path, url, password, passwordFile, instance }, at) => {
    if (path !== undefined && url !== undefined)
      at.report("path", "is given next to url", "keep one of path and url");
    if (url !== undefined || at.has("url")) return;
    for (const [name, value] of Object.entries({ password, passwordFile, instance })) {
      if (value === undefined) continue;
      const message = "is for a journal in PostgreSQL alone";
      at.report(name, message, "write journal.url, or leave it out");
    }
  },
);

/** The journal's keys, or one of them: its path or its URL. */
export const journalSchema = shortened(journalKeys, {
  keyOf: (written) => (typeof written === "string" && isPostgres(written) ? "url" : "path"),
  kind: "path or PostgreSQL URL",
  about: {
    meaning: "Where the journal is: its file, its PostgreSQL URL, or its keys.",
    example: "./journal.db",
  },
});

type JournalSketch = Sketch<typeof journalKeys>;

/** Where the journal's file is when nothing is said of it. */
const JOURNAL_PATH = "/var/lib/scanferry/journal.db";

/** The path of the journal's file; undefined where it is in PostgreSQL. */
export function journalPathIn({ path, url }: JournalSketch): string | undefined {
  return path ?? (url ? undefined : JOURNAL_PATH);
}

type JournalShape = z.output<typeof journalKeys>;

/** Where the journal is. */
export function journalOf(journal: JournalShape): JournalPlace {
  const path = journalPathIn(journal);
  if (path !== undefined) return path;
  const { url, password, lease, instance } = journal;
  invariant(url, "a checked configuration has a journal");
  const { server, schema } = url;
  const hasPasswordInUrl = url.password !== undefined;
  return { server, schema, password, hasPasswordInUrl, leaseMs: lease, instance };
}

/** How long the journal keeps details, and how much longer it remembers contents; undefined: everything is kept. */
export function retentionOf({ retain, remember }: JournalShape) {
  return retain === undefined ? undefined : { retainMs: retain, rememberMs: remember };
}

type ListenAddress = { readonly host: string };

/** A name may stand for this host's loopback, too. */
const isBeyond = ({ host }: ListenAddress) => isIP(host) !== 0 && !isLoopback(host);

/** `web`. */
export const webSchema = shortened(
  section(
    {
      listen: setting(listener().prefault("127.0.0.1:8470"), {
        meaning:
          "The address of the page, `/healthz`, `/readyz` and `/metrics`. Port 0: any free port.",
      }),
      names: setting(z.array(hostName()).prefault([]), {
        meaning:
          "The names that browsers use, for example behind a reverse proxy on this host; there the token is required.",
        example: "[scans.example.com]",
      }),
      ...secretKeys("token", secret(16), {
        meaning:
          "Required to open the page and read `/metrics` from other hosts; on this host too if it is set. " +
          "16 characters or more.",
        example: '"16 characters or more"',
        file: "/etc/scanferry/web.token",
        variable: "SCANFERRY_WEB_TOKEN",
        otherwise: "none",
        // Behind a proxy everyone calls from this host. Beyond it the page is closed without a token, or makes one.
        need: ({ listen, names }) => {
          if (listen === undefined) return "unused";
          const isNamed = Array.isArray(names) && names.length > 0;
          return isNamed && !isBeyond(listen as ListenAddress) ? "required" : "optional";
        },
      }),
    },
    "The web page.",
  ),
  {
    keyOf: () => "listen",
    kind: "`HOST:PORT` or `off`",
    about: { meaning: "The web page; `off`: none.", example: "off" },
  },
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
        }),
        files: setting(wholeNumber(0, 1_000).prefault(5), {
          meaning: "How many older files are kept (`FILE.1` is the latest).",
        }),
      },
      "How much of `log.file` is kept.",
    ),
  },
  "The log.",
);

/** Every form that a receipt is written in. */
const RECEIPT_FORMATS: readonly ReceiptFormat[] = ["json", "html"];

/** The keys of `receipts`. */
const receiptsKeys = section(
  {
    dir: setting(localPath(), {
      meaning: "The folder, on a local disk and outside every source.",
      example: "./receipts",
    }),
    formats: setting(
      z
        .array(choice(...RECEIPT_FORMATS))
        .min(1)
        .prefault([...RECEIPT_FORMATS]),
      {
        meaning: "The files of each receipt: `json` for machines, `html` to print.",
        example: "[html]",
      },
    ),
  },
  "`receipts: DIR` is short for `receipts: { dir: DIR }`.",
);

/** The keys of receipts, or their folder. */
export const receiptsSchema = shortened(receiptsKeys, {
  keyOf: () => "dir",
  kind: "path",
  about: {
    meaning: "Receipts: the folder, or the keys.",
    example: "/var/lib/scanferry/receipts",
    without: "no receipts are written; `scanferry receipt BATCH` prints one",
  },
}).optional();

/** `web`; undefined: no listener. `host` is without brackets, `names` are what a reverse proxy is called by. */
export function webOf(web: z.output<typeof webSchema>) {
  const { listen, names, token } = web;
  if (listen === undefined) return undefined;
  return settings({ ...listen, token, names: names.length === 0 ? undefined : names });
}

/** `log`. */
export function logOf({ level, file: path, keep: { size, files } }: z.output<typeof logSchema>) {
  const file = path === undefined ? undefined : { path, sizeBytesMax: size, olderMax: files };
  return settings({ level, file });
}

/** A log of its own: its file, absolute, the most it holds in bytes, and how many older ones stay. */
export type LogFileSettings = Readonly<NonNullable<ReturnType<typeof logOf>["file"]>>;
