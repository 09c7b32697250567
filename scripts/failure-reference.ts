/**
 * Writes docs/errors.md from the tables of codes, so that the two cannot differ.
 * Run it after a change of a code: `node scripts/failure-reference.ts`.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CLIENT_CODES } from "../src/archive/archive-error.ts";
import { FAILURES, type Fate, type Failure, failureOf } from "../src/domain/failure.ts";
import { OF_ONE_REQUEST } from "../src/domain/lookup-failures.ts";
import { JOURNAL_HINTS } from "../src/journal/journal-fault.ts";
import { OPEN_FILES_HINT } from "../src/std/open-files.ts";

/** The fates in the order of how much they concern a person, with what each means. */
const FATES: Readonly<Record<Fate, { title: string; meaning: string }>> = {
  fail: {
    title: "`fail`: needs a user",
    meaning:
      "The archive rejects this document permanently; its state is `failed`. Other documents continue.",
  },
  hold: {
    title: "`hold`: waits for something outside",
    meaning:
      "The document is `held` and continues automatically after the fix; `scanferry retry` tries at once. " +
      "(One that looks unfinished stays `settling`; one whose after-action failed stays `converted`.) " +
      `${forUserOnly()} continue only after a user's command.`,
  },
  gate: {
    title: "`gate`: stops the account",
    meaning:
      "No document of the account can be sent. What waits is `held` with this code, one document tests from time " +
      "to time whether sending is possible, and then everything continues automatically.",
  },
  retry: {
    title: "`retry`: temporary",
    meaning: "Tried again automatically after a growing wait, without limit.",
  },
};

function forUserOnly(): string {
  const codes = Object.entries<Failure>(FAILURES).flatMap(([code, { person }]) =>
    person ? [`\`${code}\``] : [],
  );
  return `${codes.slice(0, -1).join(", ")} and ${codes.at(-1)}`;
}

/** Codes that stand in no table: each is made in one place of `src`, which tells its hint too. */
const ELSEWHERE: readonly [code: string, hint: string][] = [
  ["FILE_GONE", "Nothing to do: the file was removed."],
  ["NOT_REGULAR", "Only regular files are sent; put the file itself there instead of a link."],
  ["CONFIG_INVALID", "Fix the lines that the message names."],
  ["CONFIG_UNWRITABLE", "Name another place with `--config`."],
  ["DEMO_UNWRITABLE", "Name a directory that can be written to with `--data`."],
  ["ARCHIVE_URL_UNFIT", "Set `archive.url` to the service's base address."],
  ["TLS_CHECK_DISABLED", "Unset `NODE_TLS_REJECT_UNAUTHORIZED`."],
  ["SIGNING_SECRET_MISSING", "Set `archive.signing.secret` or `secretFile`."],
  ["SIGNING_ALGORITHM_UNKNOWN", "Set `archive.signing.algorithm` to a digest of `node:crypto`."],
  ["SIGNING_MODULE_UNFIT", "Give the module named in `archive.signing.module` a default export."],
  [
    "MIRRORS_EXCHANGED",
    "Exchange the names or sources back: the journal knows a mirror by its name.",
  ],
  ["ARCHIVES_EXCHANGED", "Exchange the addresses back: the journal knows an archive by its name."],
  [
    "SOURCES_OVERLAP",
    "Give each mirror a folder that is not inside another one, also not by a link or a mount.",
  ],
  ["FILES_EXHAUSTED", OPEN_FILES_HINT],
  ["WEB_LISTEN", "Change `web.listen`, or set `web: off`."],
  ["TOO_MANY_WAIT", "Stop scanferry, run `scanferry adopt`, and start it again."],
  [
    "RECEIPT_UNWRITABLE",
    "Give the daemon's user access to the folder of `receipts`, or free space. scanferry tries again automatically.",
  ],
  ["OUTPUT_FAILED", "Free space, or write the output somewhere else."],
  [
    "ARCHIVE_UNKNOWN",
    "Nothing was sent to this archive yet, so no decision is needed: start the daemon.",
  ],
  ["EMBEDDED_ARCHIVE_OPTIONS", "Fix the option that the message names."],
  ["EMBEDDED_ARCHIVE_LISTEN", "Choose an address of this machine and a free port."],
  ["EMBEDDED_ARCHIVE_IN_USE", "Stop the other embedded archive, or use another data directory."],
  ["EMBEDDED_ARCHIVE_COPY", "Free space on the disk of the data directory; nothing was changed."],
  ["EMBEDDED_ARCHIVE_TOO_NEW", "Use the program that wrote the data, or another data directory."],
];

const INTRODUCTION = `# Error codes

<!-- Written by scripts/failure-reference.ts from the tables in src. Change those, not this. -->

Codes are stable. Logs, \`list --json\`, \`explain\` and the page show them; \`scanferry retry --error CODE\` selects by them. The *fate* of a
code says what it means for the document.
`;

/** The whole text of docs/errors.md. */
export function failureReference(): string {
  const fates = Object.keys(FATES) as Fate[];
  return [
    INTRODUCTION,
    ...fates.flatMap(sectionOf),
    unknownCode(),
    ...listOf(
      "The connection to the archive",
      "During an upload these decide between *not sent* (tried again) and *in doubt* (the archive is asked first). A " +
        "command that meets one ends with 1.",
      Object.entries(CLIENT_CODES).filter(([code]) => !Object.hasOwn(FAILURES, code)),
    ),
    ...listOf(
      "The journal",
      "Nothing is sent without a journal that can be written. What was acknowledged before is kept.",
      Object.entries(JOURNAL_HINTS),
    ),
    ...listOf(
      "Others",
      "Of single files, and at the start of a command.",
      ELSEWHERE.filter(([code]) => !Object.hasOwn(FAILURES, code)),
    ),
  ].join("\n");
}

function sectionOf(fate: Fate): string[] {
  const { title, meaning } = FATES[fate];
  const rows = Object.entries<Failure>(FAILURES).filter(([, failure]) => failure.fate === fate);
  return listOf(
    title,
    meaning,
    rows.map(([code, { hint }]) => [code, hint]),
  );
}

function unknownCode(): string {
  const { fate, hint } = failureOf("");
  return `## Unknown codes

Any other code of the archive, also \`HTTP_<status>\`, has the fate \`${fate}\`. ${hint} After the whole document was sent, such a code proves
nothing, and the document is \`inDoubt\`. Several documents in a row with the same code close the gate (\`SAME_CODE_REPEATS\`), except for these:

${hintsOf(OF_ONE_REQUEST.map((code) => [code, failureOf(code).hint] as const)).join("\n")}
`;
}

function listOf(
  title: string,
  meaning: string,
  rows: readonly (readonly [string, string])[],
): string[] {
  return [`## ${title}`, "", meaning, "", ...hintsOf(rows), ""];
}

/** A line for each hint, with all codes that have it. */
function hintsOf(rows: readonly (readonly [code: string, hint: string])[]): string[] {
  const codes = Map.groupBy(rows, ([, hint]) => hint);
  return [...codes].map(
    ([hint, of]) => `- ${of.map(([code]) => `\`${code}\``).join(", ")}: ${hint}`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("../docs/errors.md", import.meta.url), failureReference());
}
