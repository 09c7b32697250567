import { type BigIntStats, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { Config } from "../../config/config.ts";
import { shownJournal } from "../../network/journal-place.ts";
import { elsewhereFault, readJournal } from "../../journal/open-journal.ts";
import { lockPathOf } from "../../journal/owner-lock.ts";
import { Fault, UsageError } from "../../std/fault.ts";
import { isWithin } from "../../std/local-path.ts";
import { printable } from "../../std/printable.ts";
import type { Shell } from "../shell.ts";
import { examples } from "../option-values.ts";

/** What every SQLite database begins with (sqlite.org/fileformat.html, 1.3). */
const SQLITE_BEGINS = Buffer.from("SQLite format 3\0");

/** `scanferry backup` and `restore`: a copy of the journal, and the way back. */
export function addBackup(program: Command, shell: Shell): void {
  program
    .command("backup")
    .description("write a complete copy of the journal; the daemon may run")
    .argument("<file>", "the new file; an earlier copy is replaced")
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
  const what = isOfJournal(to, config.journal)
    ? "belongs to the journal itself"
    : await whyNoCopyAt(to, config.mirrors);
  if (what !== undefined) throw new UsageError(`${printable(to)} ${what}; name another file`);
  await journal.backup(to);
  await shell.out.line(`wrote a copy of the journal: ${printable(to)}`);
}

/** Why no copy of a journal may be at `path`: a mirror would send it, or something else is there. */
export async function whyNoCopyAt(
  path: string,
  mirrors: Config["mirrors"],
): Promise<string | undefined> {
  const source = mirrors.find((mirror) => isWithin(mirror.source, path));
  return source ? `lies in the source of ${source.name}, which would send it` : strangerAt(path);
}

/** A copy in the place of one of the journal's files would take it from the daemon that has it open. */
function isOfJournal(path: string, journal: string): boolean {
  const files = [journal, `${journal}-wal`, `${journal}-shm`, lockPathOf(journal)];
  const idOf = (file: string) => {
    const seen = statAt(file);
    return seen && `${seen.dev} ${seen.ino}`;
  };
  const own = files.flatMap((file) => idOf(file) ?? []);
  return files.includes(path) || own.includes(idOf(path) ?? "");
}

/** What is there, where it is neither empty nor an earlier copy: a scan, or the configuration. */
async function strangerAt(path: string): Promise<string | undefined> {
  const seen = statAt(path);
  if (seen === undefined || (seen.isFile() && seen.size === 0n)) return undefined;
  if (!seen.isFile()) return "is not a file";
  try {
    await using handle = await open(path);
    const { buffer } = await handle.read(Buffer.alloc(SQLITE_BEGINS.length), 0, undefined, 0);
    return buffer.equals(SQLITE_BEGINS) ? undefined : "is not a copy of a journal";
  } catch {
    return "cannot be read";
  }
}

/** Undefined where nothing can be seen: writing there says why. */
function statAt(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch {
    return undefined;
  }
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
