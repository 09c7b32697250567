import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { shownJournal } from "../../network/journal-place.ts";
import { elsewhereFault, readJournal } from "../../journal/open-journal.ts";
import { lockPathOf } from "../../journal/owner-lock.ts";
import { Fault, UsageError } from "../../std/fault.ts";
import type { Shell } from "../shell.ts";
import { examples } from "../option-values.ts";

/** `scanferry backup` and `restore`: a copy of the journal, and the way back. */
export function addBackup(program: Command, shell: Shell): void {
  program
    .command("backup")
    .description("write a complete copy of the journal; the daemon may run")
    .argument("<file>", "the new file; an existing one is replaced")
    .action((file: string) => backup(shell, file))
    .addHelpText("after", examples("scanferry backup /var/backups/scanferry.db"));
  program
    .command("restore")
    .description("replace the journal by a copy, while no daemon runs")
    .argument("<file>", "the copy: from `backup`, or one that an upgrade left next to the journal")
    .action((file: string) => restore(shell, file))
    .addHelpText(
      "after",
      `${examples("scanferry restore /var/backups/scanferry.db")}

The journal that was there is kept next to it. What was sent after the copy was made, the copy does not
know: as on a first run, files that the archive may hold already are held until \`scanferry adopt\` claims them.`,
    );
}

async function backup(shell: Shell, file: string): Promise<void> {
  const config = await shell.config();
  if (typeof config.journal !== "string") throw elsewhereFault(config.journal, "backup");
  const to = resolve(shell.cwd, file);
  await using journal = await readJournal(config);
  if (!journal) {
    throw new Fault(
      "JOURNAL_MISSING",
      `journal ${shownJournal(config.journal)}: there is none yet`,
      "Check `journal` in the configuration; `scanferry run` makes the journal.",
    );
  }
  if (isOfJournal(to, config.journal))
    throw new UsageError(`${to} belongs to the journal itself; name another file`);
  await journal.backup(to);
  await shell.out.line(`wrote a copy of the journal: ${to}`);
}

/** A copy in the place of one of the journal's files would take it from the daemon that has it open. */
function isOfJournal(path: string, journal: string): boolean {
  const files = [journal, `${journal}-wal`, `${journal}-shm`, lockPathOf(journal)];
  const idOf = (file: string) => {
    const seen = statSync(file, { bigint: true, throwIfNoEntry: false });
    return seen && `${seen.dev} ${seen.ino}`;
  };
  const own = files.flatMap((file) => idOf(file) ?? []);
  return files.includes(path) || own.includes(idOf(path) ?? "");
}

async function restore(shell: Shell, file: string): Promise<void> {
  // Loaded only here: the other commands start without it.
  const { restoreJournal } = await import("../../journal/restore.ts");
  const config = await shell.config();
  if (typeof config.journal !== "string") throw elsewhereFault(config.journal, "restore");
  const from = resolve(shell.cwd, file);
  const aside = restoreJournal(from, config.journal);
  await shell.out.line(`restored: ${config.journal}`);
  if (aside !== undefined) await shell.out.line(`the previous journal is now ${aside}`);
  await shell.out.line(`next: ${shell.typed("adopt")}, then start the daemon`);
}
