import type { Command } from "commander";
import { accountsOf, type Config } from "../../config/config.ts";
import type { Archive } from "../../archive/archive.ts";
import { targetPathOf } from "../../domain/naming.ts";
import { legible, printable } from "../../std/printable.ts";
import { ROOT } from "../../std/raw-path.ts";
import { Folders } from "../../sync/folders.ts";
import { cut } from "../text-table.ts";
import { EXIT } from "../exit.ts";
import type { Shell } from "../shell.ts";
import type { Style } from "../terminal.ts";
import { audit, type AuditLine } from "../../report/audit.ts";
import { readJournal } from "../../journal/open-journal.ts";
import { examples } from "../option-values.ts";
import { lookUpSettings, openClient } from "../../archive/archive-settings.ts";

/** The marks of `rclone check --combined`, the journal being the source and the archive what it went to. */
const MARKS = {
  same: ["=", "dim"],
  missing: ["+", "red"],
  changed: ["*", "yellow"],
  unconverted: ["!", "red"],
  unknown: ["-", "cyan"],
} as const satisfies Record<AuditLine["kind"], readonly [mark: string, style: Style]>;

const LEGEND = `Marks, as rclone check --combined has them, from here to the archive:
  =  as journaled
  +  missing in the archive, and only here
  *  moved, renamed or of another size there
  !  never converted, though it should have been for long (conversion.stuckAfter)
  -  only there: in our folders, and unknown to the journal
Ends with 3 when a document is missing, was never converted or is of another size.`;

type Options = { readonly json?: boolean; readonly all?: boolean };

/** `scanferry verify`: every journaled document against the archive. */
export function addVerify(program: Command, shell: Shell): void {
  program
    .command("verify")
    .description("compare every document of the journal with the archive")
    .option("--json", "print one JSON object a line, for every document")
    .option("--all", "also print documents that are correct")
    .action((options: Options) => verify(shell, options))
    .addHelpText("after", `${examples("scanferry verify")}\n\n${LEGEND}`);
}

async function verify(shell: Shell, { json, all }: Options): Promise<void> {
  const { out } = shell;
  const config = await shell.config();
  await using journal = await readJournal(config);
  const total = { same: 0, missing: 0, changed: 0, unconverted: 0, unknown: 0 };
  let resized = 0;
  const accounts = accountsOf(config);
  const convertedBefore = shell.clock.now() - config.conversion.stuckAfterMs;
  for (const account of accounts) {
    // Also without anything to ask: whether the archive answers is reported all the same.
    await using client = await openClient(lookUpSettings(account), shell.clock);
    const { name } = account.archive;
    const archiveId = (await journal?.archives())?.find((row) => row.name === name)?.id;
    if (!journal || archiveId === undefined) continue;
    const signal = shell.stopping();
    const folderIds = await targetsOf(account, client, signal);
    const own = journal.of(archiveId);
    const { storedSize } = account.archive;
    const parts = { journal: own, archive: client, archiveId, folderIds };
    const options = { ...parts, convertedBefore, storedSize };
    for await (const found of audit(options, signal)) {
      const line = accounts.length > 1 ? { ...found, archive: name } : found;
      total[line.kind] += 1;
      if (line.changes.includes("resized")) resized += 1;
      if (json === true) await out.line(JSON.stringify({ mark: MARKS[line.kind][0], ...line }));
      else if (all === true || line.kind !== "same") await out.line(textOf(line, shell));
    }
  }
  if (json !== true) await out.line(sumOf(total));
  const isWrong = total.missing + total.unconverted + resized > 0;
  shell.exitCode = isWrong ? EXIT.unsettled : EXIT.done;
}

/** The folders of the mirrors, as far as they are there. */
async function targetsOf(
  { mirrors }: Config,
  archive: Archive,
  signal: AbortSignal,
): Promise<number[]> {
  const folders = new Folders(archive);
  const ids: number[] = [];
  for (const { target } of mirrors) {
    const found = await folders.resolve(targetPathOf(target, ROOT), signal);
    if (found.kind === "found") ids.push(found.folderId);
  }
  return ids;
}

function sumOf(total: Readonly<Record<AuditLine["kind"], number>>): string {
  const { same, missing, changed, unconverted, unknown } = total;
  const late = unconverted === 0 ? "" : `, ${unconverted} never converted`;
  return `${same} as journaled, ${missing} missing, ${changed} changed${late}, ${unknown} unknown`;
}

function textOf(line: AuditLine & { archive?: string }, { out }: Shell): string {
  const { kind, documentId, mirror, path, detail, archive } = line;
  const [mark, style] = MARKS[kind];
  const name = mirror === null ? "" : `${printable(mirror)}  ${legible(path)}`;
  const where = mirror === null && archive !== undefined ? `in ${archive}` : "";
  const what = [`document ${documentId}`, where, name, detail].filter((part) => part !== "");
  const text = what.map((part) => printable(part)).join("  ");
  return `${out.paint(style, mark)} ${out.isInteractive ? cut(text, out.width - 2) : text}`;
}
