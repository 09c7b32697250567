/**
 * Makes the manual page from the commands themselves: `node scripts/man-page.ts > scanferry.1`.
 * Its date is the last commit's, or $SOURCE_DATE_EPOCH, in seconds.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type CommandLeaf, commandTree, type Term } from "./command-tree.ts";

/** The page's text, as of the moment `at`, in epoch seconds. */
export function manPage(version: string, at: number): string {
  const program = commandTree();
  const date = new Date(at * 1000).toISOString().slice(0, 10);
  return [
    `.TH SCANFERRY 1 "${date}" "scanferry ${version}" "User Commands"`,
    // A terminal's own characters: what is shown can be copied into a shell.
    ".nh",
    ".ad l",
    section("NAME"),
    "scanferry \\- carry scans from local folders into an online document archive",
    section("SYNOPSIS"),
    ".B scanferry",
    "[\\fB\\-\\-config\\fR \\fIFILE\\fR] \\fICOMMAND\\fR [\\fIARGUMENT\\fR ...]",
    section("DESCRIPTION"),
    text(program.description),
    ".PP",
    text(ABOUT),
    section("OPTIONS"),
    ...terms(program.options),
    ...[...Map.groupBy(program.commands, ({ group }) => group)].flatMap(([group, commands]) => [
      section(`COMMANDS: ${group.replace(":", "").toUpperCase()}`),
      ...commands.flatMap(command),
    ]),
    ...Object.entries(SECTIONS).flatMap(([title, rows]) => [section(title), ...terms(rows)]),
    section("SEE ALSO"),
    text(
      "systemd.exec(5), journalctl(1). The pages below docs, or /usr/share/doc/scanferry: operations.md, troubleshooting.md, commands.md, config.md, errors.md.",
    ),
    "",
  ].join("\n");
}

const ABOUT =
  "The archive has no delete and charges pages, so nothing is sent that is not finished, nothing is sent " +
  "twice, and when a reply is lost the archive is asked before anything is sent again. All that is known " +
  "is in one journal.";

const SECTIONS: Readonly<Record<string, readonly Term[]>> = {
  "EXIT STATUS": [
    { term: "0", description: "done" },
    { term: "1", description: "a fault; one line says what, and what to do" },
    {
      term: "2",
      description: "invalid arguments or configuration; one line per problem: file, key, fix",
    },
    {
      term: "3",
      description: "done, but documents are held or failed, or would be (scanferry plan)",
    },
    {
      term: "130, 143",
      description:
        "stopped by Ctrl-C, or by SIGTERM, before it was done. A command that runs until it is stopped ends with 0",
    },
  ],
  ENVIRONMENT: [
    { term: "SCANFERRY_CONFIG", description: "the configuration, unless --config names one" },
    {
      term: "SCANFERRY_ARCHIVE_URL, SCANFERRY_MIRROR_SOURCE, SCANFERRY_MIRROR_TARGET",
      description:
        "archive.url and the keys of one mirror, as SCANFERRY_UPLOAD_CONCURRENCY is upload.concurrency: every key outside lists has a variable, which overrides the configuration. With the first two no configuration is needed",
    },
    {
      term: "SCANFERRY_ACCOUNT_KEY",
      description:
        "the account key; SCANFERRY_ACCOUNT_KEY_FILE names a file that holds it, as ..._FILE does of each secret",
    },
    { term: "SCANFERRY_SIGNING_SECRET", description: "the same for the signing secret" },
    {
      term: "SCANFERRY_ACCOUNT_KEY_NAME, SCANFERRY_SIGNING_SECRET_NAME",
      description:
        "the same for an archive below archives: its name in capitals, with _ for -, as in SCANFERRY_ACCOUNT_KEY_LEGAL",
    },
    {
      term: "SCANFERRY_ARCHIVE_PROXY",
      description: "the same for the proxy; else HTTPS_PROXY, HTTP_PROXY and NO_PROXY as usual",
    },
    { term: "SCANFERRY_WEB_TOKEN", description: "the same for the page's token" },
    {
      term: "SCANFERRY_JOURNAL_PASSWORD",
      description: "the same for the password of a journal in PostgreSQL",
    },
    { term: "SCANFERRY_MAIL_PASSWORD", description: "the same for the passwords of notify.mail" },
    { term: "SCANFERRY_WEBHOOK_URL", description: "the same for the addresses of notify.webhook" },
    { term: "SCANFERRY_WEBHOOK_SECRET", description: "the same for the secrets of notify.webhook" },
    { term: "SCANFERRY_WEBHOOK_TOKEN", description: "the same for the tokens of notify.webhook" },
    { term: "SCANFERRY_PING_URL", description: "the same for the address of notify.ping" },
    {
      term: "CREDENTIALS_DIRECTORY",
      description: "where a secret's file is looked for that is not next to the configuration",
    },
    { term: "NO_COLOR", description: "no colours" },
  ],
  FILES: [
    { term: "/etc/scanferry/scanferry.yaml", description: "the configuration" },
    {
      term: "/var/lib/scanferry/journal.db",
      description:
        "the journal, unless the configuration says otherwise. Copies of it as it was before an upgrade lie next to it, with .schema-N at the end",
    },
  ],
  SIGNALS: [
    {
      term: "SIGTERM, SIGINT",
      description:
        "finish or safely abandon what is under way, then end; a second one ends at once",
    },
    { term: "SIGHUP", description: "read the configuration again; a bad one is refused" },
    { term: "SIGUSR1", description: "look through every source now" },
  ],
};

function command(leaf: CommandLeaf): string[] {
  const name = [...leaf.words].join(" ");
  return [
    `.SS ${escaped(`scanferry ${name} ${leaf.usage}`.trim())}`,
    text(sentence(leaf.description)),
    ...terms([...leaf.arguments, ...leaf.options.filter(({ term }) => term !== "-h, --help")]),
    ...(leaf.after === "" ? [] : [".PP", ".nf", ...leaf.after.split("\n").map(verbatim), ".fi"]),
    ...leaf.commands.flatMap(command),
  ];
}

function terms(rows: readonly Term[]): string[] {
  return rows.flatMap(({ term, description }) => [
    ".TP",
    `.B ${escaped(term)}`,
    text(description === "" ? "see above" : description),
  ]);
}

const section = (title: string) => `.SH ${title}`;

const sentence = (words: string) => `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;

function text(words: string): string {
  return verbatim(words.replaceAll(/\s+/g, " ").trim());
}

/** A line that begins with a dot or a quote would be a request. */
function verbatim(line: string): string {
  const safe = escaped(line);
  return /^[.']/.test(safe) ? `\\&${safe}` : safe;
}

function escaped(line: string): string {
  return line
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("'", "\\(aq")
    .replaceAll("`", "\\(ga")
    .replaceAll("^", "\\(ha")
    .replaceAll("~", "\\(ti")
    .replaceAll("…", "...");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = new URL("../package.json", import.meta.url);
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string };
  const { commitTime } = await import("./package/commit-time.ts");
  process.stdout.write(manPage(version, commitTime()));
}
