import type { Command } from "commander";
import { accountsOf } from "../../config/archives.ts";
import { openClient } from "../archive-client.ts";
import { lookUpSettings } from "../archive-settings.ts";
import { audit, type AuditLine } from "../audit.ts";
import { examples } from "../examples.ts";
import { EXIT } from "../exit.ts";
import { readJournal } from "../journals.ts";
import { printable } from "../printable.ts";
import type { Shell } from "../shell.ts";
import type { Style } from "../terminal.ts";

const MARKS = {
  same: ["=", "dim"],
  missing: ["-", "red"],
  changed: ["~", "yellow"],
  unknown: ["+", "cyan"],
} as const satisfies Record<AuditLine["kind"], readonly [mark: string, style: Style]>;

type Options = { readonly json?: boolean; readonly all?: boolean };

/** `scanferry verify`: every journaled document against the archive. */
export function addVerify(program: Command, shell: Shell): void {
  program
    .command("verify")
    .description("audit: every journaled document against the archive")
    .option("--json", "print one JSON object a line, for every document")
    .option("--all", "print documents that are as they should be, too")
    .action((options: Options) => verify(shell, options))
    .addHelpText(
      "after",
      `${examples("scanferry verify")}

Marks: = as journaled, - missing, ~ renamed, moved or of another size, + unknown to the journal.`,
    );
}

async function verify(shell: Shell, { json, all }: Options): Promise<void> {
  const { out } = shell;
  const config = await shell.config();
  await using journal = await readJournal(config);
  const tally = { same: 0, missing: 0, changed: 0, unknown: 0 };
  const accounts = accountsOf(config);
  for (const account of accounts) {
    // Also without anything to ask: whether the archive can be spoken to is told all the same.
    await using client = await openClient(lookUpSettings(account), shell.clock);
    const { name } = account.archive;
    const id = (await journal?.archives())?.find((row) => row.name === name)?.id;
    if (!journal || id === undefined) continue;
    for await (const found of audit(journal.of(id), client, id, shell.stopping())) {
      const line = accounts.length > 1 ? { ...found, archive: name } : found;
      tally[line.kind] += 1;
      if (json === true) await out.line(JSON.stringify({ mark: MARKS[line.kind][0], ...line }));
      else if (all === true || line.kind !== "same") await out.line(textOf(line, shell));
    }
  }
  if (json !== true) {
    const { same, missing, changed, unknown } = tally;
    await out.line(
      `${same} as journaled, ${missing} missing, ${changed} changed, ${unknown} unknown`,
    );
  }
  shell.exitCode = tally.missing > 0 ? EXIT.unsettled : EXIT.done;
}

function textOf(line: AuditLine & { archive?: string }, { out }: Shell): string {
  const { kind, documentId, mirror, path, detail, archive } = line;
  const [mark, style] = MARKS[kind];
  const name = mirror === null ? "" : `${printable(mirror)}  ${path}`;
  const where = mirror === null && archive !== undefined ? `in ${archive}` : "";
  const what = [`document ${documentId}`, where, name, detail].filter((part) => part !== "");
  return `${out.paint(style, mark)} ${what.map((part) => printable(part)).join("  ")}`;
}
