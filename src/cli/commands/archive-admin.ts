import { resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import type { CheckTotal, ClosedArchive } from "../../embedded-archive/closed-archive.ts";
import type { FolderDescription } from "../../embedded-archive/folder-table.ts";
import { EXIT } from "../exit.ts";
import { archiveFolder, examples, wholeNumber } from "../option-values.ts";
import { printable } from "../../std/printable.ts";
import { counted } from "../../std/wording.ts";
import type { Shell } from "../shell.ts";

type Options = { readonly data: string; readonly account?: string; readonly json?: boolean };

/** `scanferry archive-admin`: looks into an embedded archive that does not run, and changes it. */
export function addArchiveAdmin(program: Command, shell: Shell): void {
  const command = program
    .command("archive-admin")
    .description("check, list and change the data of an embedded archive that is stopped")
    .requiredOption("--data <dir>", "the archive's data directory")
    .option("--account <key>", "the account; default: the first one")
    .addHelpText(
      "after",
      examples(
        "scanferry archive-admin --data ./archive check",
        "scanferry archive-admin --data ./archive export 17 ./invoice.pdf",
      ),
    );
  const add = (name: string, about: string, work: Work) =>
    command
      .command(name)
      .description(about)
      .action((...given: unknown[]) => opened(shell, command.opts<Options>(), given, work));
  add(
    "check",
    "read and compare every document; exit 1 when something is wrong",
    checked,
  ).addHelpText("after", examples("scanferry archive-admin --data ./archive check"));
  add("list", "the account's documents, oldest first", listed)
    .option("--json", "print one JSON object a line")
    .addHelpText("after", examples("scanferry archive-admin --data ./archive list --json"));
  add("export", "write a document's bytes into a new file", exported)
    .argument("<id>", "the document's id", wholeNumber)
    .argument("<file>", "the file to make")
    .addHelpText("after", examples("scanferry archive-admin --data ./archive export 17 ./17.pdf"));
  add(
    "create-folder",
    "create a folder and the folders above it, and set its attributes",
    folderMade,
  )
    .argument("<path>", "such as /Scans/2026", archiveFolder)
    .option("--index <text>", "its index")
    .option("--description <text>", "its description")
    .option("--keywords <text>", "its keywords")
    .option("--expire-date <date>", "its expiry date, such as 2033-12-31, or `none`", expiry)
    .addHelpText(
      "after",
      examples(
        "scanferry archive-admin --data ./archive create-folder /Scans",
        "scanferry archive-admin --data ./archive create-folder /Scans --index 4-2",
      ),
    );
  add("set-quota", "set the account's page allowance for the next runs", quotaSet)
    .argument("<pages>", "a number, `unlimited`, or `default`: what --quota-pages says", quota)
    .addHelpText("after", examples("scanferry archive-admin --data ./archive set-quota 5000"));
}

/** What a subcommand does; `given` is its arguments, and its own options behind them. */
type Work = (
  archive: ClosedArchive,
  shell: Shell,
  options: Options,
  given: readonly unknown[],
) => Promise<void> | void;

async function opened(
  shell: Shell,
  options: Options,
  given: readonly unknown[],
  work: Work,
): Promise<void> {
  // Loaded only here: the other commands start faster without it.
  const { ClosedArchive } = await import("../../embedded-archive/closed-archive.ts");
  await using archive = await ClosedArchive.open(resolve(shell.cwd, options.data), shell.clock);
  await work(archive, shell, options, given);
}

async function checked(archive: ClosedArchive, shell: Shell): Promise<void> {
  const total: CheckTotal = { documents: 0, blobs: 0, bytes: 0 };
  let wrong = 0;
  for await (const { what, message } of archive.check(total)) {
    wrong += 1;
    await shell.out.line(`${what}: ${message}`);
  }
  if (wrong > 0) shell.exitCode = EXIT.fault;
  const { documents, blobs, bytes } = total;
  const looked = `${counted(documents, "document")}, ${counted(blobs, "file")}, ${counted(bytes, "byte")}`;
  await shell.out.line(`${looked}: ${wrong === 0 ? "all is well" : `${wrong} found wrong`}`);
}

async function listed(
  archive: ClosedArchive,
  shell: Shell,
  { account }: Options,
  given: readonly unknown[],
): Promise<void> {
  const { json } = given[0] as { json?: boolean };
  for (const document of archive.documents(account)) {
    if (shell.out.gone.aborted) return;
    const { id, status, pages, size, folderPath, filename } = document;
    const path = `${folderPath === "/" ? "" : folderPath}/${filename}`;
    const line = `${id}\t${status}\t${pages}\t${size}\t${printable(path)}`;
    await shell.out.line(json ? JSON.stringify(document) : line);
  }
}

async function exported(
  archive: ClosedArchive,
  shell: Shell,
  _options: Options,
  given: readonly unknown[],
): Promise<void> {
  const [id, file] = given as [number, string];
  const path = resolve(shell.cwd, file);
  const { filename, size } = await archive.export(id, path);
  await shell.out.line(`${printable(filename)}: ${size} bytes in ${printable(path)}`);
}

/** Epoch milliseconds of a day, by UTC; null: none. */
function expiry(text: string): number | null {
  if (text === "none") return null;
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw new InvalidArgumentError("Write a day such as 2033-12-31, or none.");
  return ms;
}

async function folderMade(
  archive: ClosedArchive,
  shell: Shell,
  { account }: Options,
  given: readonly unknown[],
): Promise<void> {
  const [path, description] = given as [string, FolderDescription];
  await shell.out.line(`folder ${archive.createFolder(path, description, account)}`);
}

function quotaSet(
  archive: ClosedArchive,
  _shell: Shell,
  { account }: Options,
  given: readonly unknown[],
): void {
  archive.setQuota(given[0] as Quota, account);
}

type Quota = number | "unlimited" | "default";

function quota(text: string): Quota {
  if (text === "unlimited" || text === "default") return text;
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("Write a number, unlimited or default.");
  return wholeNumber(text);
}
