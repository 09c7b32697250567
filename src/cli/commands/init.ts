import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { isPostgres } from "../../network/journal-place.ts";
import { messageOf, UsageError } from "../../std/fault.ts";
import { EXIT } from "../exit.ts";
import { interview, tryArchive, whyNoFolder } from "../init/interview.ts";
import { assertFree, credentialsOf, SCHEMES, type Setup, writeSetup } from "../init/write-setup.ts";
import { isKeyboard, Questions } from "../questions.ts";
import type { Shell } from "../shell.ts";
import { examples } from "../option-values.ts";
import { findingLine } from "../text-table.ts";

type Options = Omit<Setup, "accountKey" | "signingSecret"> & {
  readonly force?: boolean;
  readonly yes?: boolean;
  readonly try: boolean;
  readonly accountKeyFile?: string;
  readonly secretFile?: string;
};

/** `scanferry init`: ask what is needed, try it on the archive, write the configuration. */
export function addInit(program: Command, shell: Shell): void {
  program
    .command("init")
    .description(
      "write a commented configuration to ./scanferry.yaml, or to --config; on a terminal, ask for what no option gives, and test it with the archive",
    )
    .option("--force", "overwrite existing files")
    .option("-y, --yes", "ask no questions")
    .option("--no-try", "do not test the account with the archive")
    .option("--source <dir>", "local folder to send to the archive")
    .option("--target <path>", "archive folder, such as /Scans")
    .option("--url <url>", "the archive's address")
    .option("--journal <file>", "file of the journal")
    .option("--receipts <dir>", "write a receipt of each batch to this folder")
    .addOption(new Option("--scheme <scheme>", "how requests are signed").choices(SCHEMES))
    .option("--algorithm <digest>", "digest algorithm of the signature, such as sha256")
    .addOption(
      new Option("--encoding <encoding>", "encoding of the signature").choices(["base64", "hex"]),
    )
    .option(
      "--account-key-file <file>",
      "file with the account key; default: $SCANFERRY_ACCOUNT_KEY",
    )
    .option("--secret-file <file>", "file with the secret; default: $SCANFERRY_SIGNING_SECRET")
    .action((options: Options) => init(shell, options))
    .addHelpText(
      "after",
      `${examples(
        "scanferry init",
        "scanferry init --source /srv/scans --url https://archive.example.com",
      )}

Secrets are never options: every user of this machine could read them. They are written to files that
only their owner can read, in "secrets" next to the configuration. The configuration then has no secret.`,
    );
}

async function init(shell: Shell, options: Options): Promise<void> {
  const path = resolve(shell.cwd, shell.configFile ?? "scanferry.yaml");
  const { force = false, yes = false, try: isTrying } = options;
  if (!force) await assertFree(path);
  const given = await givenBy(shell, options);
  const { source } = given;
  const why = source?.startsWith("/") ? await whyNoFolder(source, shell, true) : undefined;
  if (why !== undefined) throw new UsageError(`--source: ${why}`);
  const { stdin } = shell.processContext;
  const isAsking = !yes && shell.out.isInteractive && isKeyboard(stdin);
  const setup = isAsking ? await ask(shell, given, isTrying) : given;
  const journal = setup.journal ?? journalBeside(path);
  const files = await writeSetup(path, { ...setup, journal }, force);
  for (const file of files) await shell.out.line(`wrote ${file}`);
  const credentials = credentialsOf(setup);
  if (credentials && isTrying && !isAsking) {
    const findings = await tryArchive(credentials, setup.target ?? "/Scans", shell);
    for (const finding of findings) await shell.out.line(findingLine(finding, shell.out));
    const isWrong = findings.some(({ level }) => level === "FAIL");
    if (isWrong) shell.exitCode = EXIT.fault;
  }
  const filling = credentials ? "" : "write the account key and the secret into it, then ";
  await shell.out.line(`next: ${filling}${shell.typed("check")}`);
}

async function ask(shell: Shell, given: Setup, isTrying: boolean): Promise<Setup> {
  const { stdin } = shell.processContext;
  if (!isKeyboard(stdin)) return given;
  await shell.out.line("Press Enter to take the value in [brackets]. Ctrl-C writes nothing.");
  using questions = new Questions(stdin, shell.out);
  return await interview(shell, given, questions, isTrying);
}

/** What options and environment say. */
async function givenBy(shell: Shell, options: Options): Promise<Setup> {
  const { env, cwd } = shell.processContext;
  const { force: _force, yes: _yes, try: _try, accountKeyFile, secretFile, ...rest } = options;
  const { source, journal, receipts } = options;
  return {
    ...rest,
    source: whole(source, cwd),
    journal: journal !== undefined && isPostgres(journal) ? journal : whole(journal, cwd),
    receipts: whole(receipts, cwd),
    accountKey:
      (await secretIn(accountKeyFile, cwd)) ?? (env["SCANFERRY_ACCOUNT_KEY"] || undefined),
    signingSecret:
      (await secretIn(secretFile, cwd)) ?? (env["SCANFERRY_SIGNING_SECRET"] || undefined),
  };
}

/** A path as it was meant where it was typed; in the file it would be relative to that. */
function whole(path: string | undefined, cwd: string): string | undefined {
  const isFit = path !== undefined && path !== "" && !path.startsWith("~");
  return isFit ? resolve(cwd, path) : path;
}

async function secretIn(file: string | undefined, cwd: string): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const path = resolve(cwd, file);
  try {
    const text = (await readFile(path, "utf8")).replace(/\r?\n$/, "");
    if (text !== "") return text;
  } catch (error) {
    throw new UsageError(
      `${path} cannot be read: ${messageOf(error)}; give the file with the secret`,
    );
  }
  throw new UsageError(`${path} is empty; write the secret into it`);
}

/** A configuration of the system has its journal where the service may write; any other next to it. */
function journalBeside(config: string): string {
  return config.startsWith("/etc/") ? "/var/lib/scanferry/journal.db" : "./journal.db";
}
