/** `journal`: where the journal is, and how long it keeps what. */
import type { z } from "zod";
import { isPostgres, type JournalPlace } from "../network/journal-place.ts";
import { invariant } from "../std/invariant.ts";
import { section, setting, shortened, type Sketch } from "./kind.ts";
import { duration, givenName, secret } from "./kinds.ts";
import { localPath, postgresUrl, secretKeys } from "./place-kinds.ts";

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

/** A password in the address is like one that is written by its key. */
export function completeJournal(journal: JournalSketch): void {
  const password = journal.url?.password;
  if (password !== undefined) journal.password ??= password;
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

/** How long the journal keeps details, and how much longer it remembers contents. */
export type Retention = { readonly retainMs: number; readonly rememberMs: number };

/** Undefined: everything is kept. */
export function retentionOf({ retain, remember }: JournalShape): Retention | undefined {
  return retain === undefined ? undefined : { retainMs: retain, rememberMs: remember };
}
