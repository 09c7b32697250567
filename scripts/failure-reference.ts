/**
 * Writes docs/errors.md from the tables of codes, so that the two cannot differ.
 * Run it after a change of a code: `node scripts/failure-reference.ts`.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CLIENT_CODES } from "../src/archive/archive-error.ts";
import { FAILURES, type Fate, type Failure, failureOf } from "../src/domain/failure.ts";
import { OF_ONE_REQUEST } from "../src/domain/status-hints.ts";
import { JOURNAL_HINTS } from "../src/journal/journal-fault.ts";
import { OPEN_FILES_HINT } from "../src/std/open-files.ts";

/** The fates in the order of how much they concern a person, with what each means. */
const FATES: Readonly<Record<Fate, { title: string; meaning: string }>> = {
  fail: {
    title: "`fail`: needs a person",
    meaning:
      "The archive refuses this document for good; its state is `failed`. Fix what the hint names, " +
      "then `scanferry retry`. Other documents go on.",
  },
  hold: {
    title: "`hold`: waits for something outside",
    meaning:
      "The document is `held` (one that looks unfinished stays `settling`, one whose after-action is " +
      "refused stays `converted`, and is tried again ever more rarely up to six hours) and continues automatically once what it waits for is there; " +
      "`scanferry retry` looks at once. " +
      `${forPersonOnly()} continue only when a person says so, as their hints tell.`,
  },
  gate: {
    title: "`gate`: stops the account",
    meaning:
      "No document of the account can succeed. Sending stops for all, what waits is `held` with this " +
      "code, and one probe at a time finds out when it may go on; then everything does, by itself.",
  },
  retry: {
    title: "`retry`: passes",
    meaning:
      "Tried again by itself after a growing wait, without limit. A person is asked only where the " +
      "cause may last.",
  },
};

function forPersonOnly(): string {
  const codes = Object.entries<Failure>(FAILURES).flatMap(([code, { person }]) =>
    person ? [`\`${code}\``] : [],
  );
  return `${codes.slice(0, -1).join(", ")} and ${codes.at(-1)}`;
}

/** Codes that stand in no table: each is made in one place of `src`, which tells its hint too. */
const ELSEWHERE: readonly [code: string, hint: string][] = [
  ["FILE_GONE", "Nothing needs to be done: the file was removed."],
  ["NOT_REGULAR", "Only regular files are sent; put the file itself there instead of a link."],
  ["CONFIG_INVALID", "Fix the lines that are named; the exit code is 2."],
  ["CONFIG_UNWRITABLE", "Name another place with `--config`."],
  ["DEMO_UNWRITABLE", "Name a directory that can be written to with `--data`."],
  ["ARCHIVE_URL_UNFIT", "Set `archive.url` to the service's base address."],
  ["TLS_CHECK_DISABLED", "Unset `NODE_TLS_REJECT_UNAUTHORIZED`."],
  ["SIGNING_SECRET_MISSING", "Set `archive.signing.secret` or `secretFile`."],
  ["SIGNING_ALGORITHM_UNKNOWN", "Set `archive.signing.algorithm` to a digest of `node:crypto`."],
  ["SIGNING_MODULE_UNFIT", "Give the module named in `archive.signing.module` a default export."],
  [
    "MIRRORS_EXCHANGED",
    "Exchange the names or sources back: a mirror is known by its name, and what was sent by its mirror.",
  ],
  ["ARCHIVES_EXCHANGED", "Exchange the addresses back: an archive is known by its name."],
  ["SOURCES_OVERLAP", "Give folders of which none lies in another, by no link and no mount."],
  ["FILES_EXHAUSTED", OPEN_FILES_HINT],
  ["WEB_LISTEN", "Change `web.listen`, or set `web: off`."],
  [
    "RECEIPT_UNWRITABLE",
    "Give the daemon's user the right to the folder `receipts` names, or free space; it is tried again.",
  ],
  ["OUTPUT_FAILED", "Free space, or write the output somewhere else."],
  [
    "ARCHIVE_UNKNOWN",
    "Nothing has to be said of an archive to which nothing was sent yet: start with it.",
  ],
  ["EMBEDDED_ARCHIVE_OPTIONS", "Fix the option that the message names."],
  ["EMBEDDED_ARCHIVE_LISTEN", "Choose an address of this machine and a free port."],
  ["EMBEDDED_ARCHIVE_IN_USE", "Stop the other embedded archive, or use another data directory."],
  ["EMBEDDED_ARCHIVE_COPY", "Free space on the disk of the data directory; nothing was changed."],
  ["EMBEDDED_ARCHIVE_TOO_NEW", "Use the program that wrote the data, or another data directory."],
];

const INTRODUCTION = `# Failure codes

<!-- Written by scripts/failure-reference.ts from the tables in src. Change those, not this. -->

A code is stable: logs, \`list --json\`, \`explain\` and the page show it, \`scanferry retry --error CODE\`
selects by it. Codes in capitals that the archive interface names are the archive's own words; the
others are scanferry's. The *fate* of a code says what it means for the document in hand.
`;

/** The whole text of docs/errors.md. */
export function failureReference(): string {
  const fates = Object.keys(FATES) as Fate[];
  return [
    INTRODUCTION,
    ...fates.flatMap(sectionOf),
    unknownCode(),
    ...tableOf(
      "The way to the archive",
      "What a request can meet before, or instead of, an answer of the interface. During an upload it " +
        "decides between *not sent* (tried again) and *in doubt* (the archive is asked first); " +
        "elsewhere the question is asked again. A command that meets it ends with 1.",
      Object.entries(CLIENT_CODES).filter(([code]) => !Object.hasOwn(FAILURES, code)),
    ),
    ...tableOf(
      "The journal",
      "Nothing goes on without a journal that takes and keeps what it is told: the daemon, or the " +
        "command, ends with 1 and says which of these it was. What was acknowledged before is kept.",
      Object.entries(JOURNAL_HINTS),
    ),
    ...tableOf(
      "Elsewhere",
      "What one file can meet beside these, and what keeps a command from starting.",
      ELSEWHERE.filter(([code]) => !Object.hasOwn(FAILURES, code)),
    ),
  ].join("\n");
}

function sectionOf(fate: Fate): string[] {
  const { title, meaning } = FATES[fate];
  const rows = Object.entries<Failure>(FAILURES).filter(([, failure]) => failure.fate === fate);
  return tableOf(
    title,
    meaning,
    rows.map(([code, { hint }]) => [code, hint]),
  );
}

function unknownCode(): string {
  const { fate, hint } = failureOf("");
  return `## Codes nobody knows

Any other code of the archive, also \`HTTP_<status>\` for an answer without one, has the fate \`${fate}\`.
${hint} A code that the archive gave after it had the whole document proves nothing: until the archive was looked
through, the document is \`inDoubt\`.

Several documents in a row that meet the same one close the gate (\`SAME_CODE_REPEATS\`), but for statuses that speak of one
request:

${OF_ONE_REQUEST.map((code) => `- \`${code}\`: ${failureOf(code).hint}`).join("\n")}
`;
}

function tableOf(title: string, meaning: string, rows: readonly [string, string][]): string[] {
  const lines = rows.map(([code, hint]) => `| \`${code}\` | ${hint.replaceAll("|", "\\|")} |`);
  return [`## ${title}`, "", meaning, "", "| code | what to do |", "|---|---|", ...lines, ""];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("../docs/errors.md", import.meta.url), failureReference());
}
