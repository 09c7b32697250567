import { resolve } from "node:path";
import type { Command } from "commander";
import type { Config } from "../../config/config.ts";
import { ConfigError } from "../../config/config-problems.ts";
import {
  isPostgres,
  type JournalPlace,
  LEASE_MS,
  type PostgresUrl,
  shownJournal,
} from "../../network/journal-place.ts";
import type { Advance, Copied } from "../../journal/copy/copy-journal.ts";
import { journalFault } from "../../journal/journal-fault.ts";
import { whyNoCopyAt } from "./backup.ts";
import { EXIT, Interrupted } from "../exit.ts";
import type { Shell } from "../shell.ts";
import { examples } from "../option-values.ts";
import type { Compared, RowDifference } from "../../journal/copy/compare-journals.ts";
import type { Clock } from "../../std/clock.ts";
import { printable } from "../../std/printable.ts";
import type { Terminal } from "../terminal.ts";
import { counted, numberText } from "../../std/wording.ts";
import { UsageError } from "../../std/fault.ts";

type Options = { readonly from: string; readonly to: string; readonly json?: boolean };

/** `scanferry journal copy`: from a file to PostgreSQL, and back. */
export function addJournal(program: Command, shell: Shell): void {
  const journal = program
    .command("journal")
    .description("copy the journal to another place")
    .addHelpText("after", examples("scanferry journal copy --help"));
  journal
    .command("copy")
    .description(
      "copy a journal to another file, or between a file and PostgreSQL, while no daemon uses it",
    )
    .requiredOption("--from <file>", "the journal: a file, or postgres://USER@HOST/DATABASE")
    .requiredOption("--to <file>", "the new journal, in the same form; it must not be in use")
    .option("--json", "print one JSON object")
    .action((options: Options) => copy(shell, options))
    .addHelpText(
      "after",
      `${examples(
        "scanferry journal copy --from /var/lib/scanferry/journal.db --to postgres://scanferry@db.example.com/scans",
      )}

Ended in the middle, it goes on where it was. At its end every row is compared; before that, no daemon
takes the copy. Afterwards both journals are guarded as copies are, since neither hears of what the other
sends: files that the archive may hold already are held until \`scanferry adopt\` claims them.
A password comes from $SCANFERRY_JOURNAL_PASSWORD, or from the configuration where its journal is on
the same server; in the address others could read it.`,
    );
}

async function copy(shell: Shell, { from: typedFrom, to: typedTo, json }: Options): Promise<void> {
  // Loaded only here: the other commands start without it.
  const { copyJournal } = await import("../../journal/copy/copy-journal.ts");
  const from = await placeOf(shell, "--from", typedFrom);
  const to = await placeOf(shell, "--to", typedTo);
  if (shownJournal(from) === shownJournal(to)) {
    throw new UsageError("--from and --to are the same journal; name two places");
  }
  if (typeof to === "string") await assertFree(shell, to);
  const stopping = shell.stopping();
  const progress = new CopyProgress(json === true ? shell.err : shell.out, shell.clock);
  const onAdvance = progress.advanced.bind(progress);
  let copied: Copied;
  try {
    copied = await copyJournal({ from, to, stopping, onAdvance });
  } catch (error) {
    if (!stopping.aborted) throw error;
    throw new Interrupted("stopped; run the same command again to continue");
  } finally {
    progress.end();
  }
  if (json === true) await shell.out.line(JSON.stringify(copyRecord(copied)));
  else for (const line of copyLines(copied)) await shell.out.line(line);
  const { difference } = copied;
  if (difference) {
    const what = `${difference.table}: ${differenceText(difference)}, compared with ${copied.from}`;
    throw journalFault("JOURNAL_DIFFERS", copied.to, what);
  }
  if (json !== true) {
    await shell.out.line(
      `next: set it as \`journal\`, ${shell.typed("adopt")}, then start the daemon`,
    );
  }
  shell.exitCode = EXIT.done;
}

/** Opening it would leave a lock next to whatever is there. */
async function assertFree(shell: Shell, file: string): Promise<void> {
  const why = await whyNoCopyAt(file, (await configIfAny(shell))?.mirrors ?? []);
  if (why !== undefined) throw new UsageError(`${printable(file)} ${why}; name another file`);
}

/** What `journal` of the configuration takes; a path is relative to here. */
async function placeOf(shell: Shell, option: string, typed: string): Promise<JournalPlace> {
  const { localPath, postgresUrl } = await import("../../config/place-kinds.ts");
  const read = (isPostgres(typed) ? postgresUrl() : localPath()).safeParse(typed);
  if (!read.success) {
    const [issue] = read.error.issues;
    const fix = issue?.code === "custom" ? String(issue.params?.["fix"]) : "";
    throw new UsageError(`${option} ${issue?.message}; ${fix}`);
  }
  if (typeof read.data === "string") return resolve(shell.cwd, read.data);
  const password = read.data.password ?? (await passwordFor(shell, read.data));
  const hasPasswordInUrl = read.data.password !== undefined;
  return { ...read.data, password, hasPasswordInUrl, leaseMs: LEASE_MS, instance: undefined };
}

/** The configuration's is sent to its own server alone. */
async function passwordFor(shell: Shell, { server }: PostgresUrl): Promise<string | undefined> {
  const given = shell.processContext.env["SCANFERRY_JOURNAL_PASSWORD"];
  if (given !== undefined && given !== "") return given;
  const journal = (await configIfAny(shell))?.journal;
  if (typeof journal !== "object" || !isSameServer(journal.server, server)) return undefined;
  return journal.password;
}

/** A copy needs no configuration; one that is named has to be read. */
async function configIfAny(shell: Shell): Promise<Config | undefined> {
  return shell.config().catch((error: unknown) => {
    if (error instanceof ConfigError && shell.configFile === undefined) return undefined;
    throw error;
  });
}

function isSameServer(one: string, other: string): boolean {
  const [first, second] = [new URL(one), new URL(other)];
  return first.host === second.host && first.username === second.username;
}

/** A terminal is drawn on no more often than this. */
const DRAW_MS = 100;

/** Draws a line over on terminals; elsewhere nothing is printed before the end. */
class CopyProgress {
  readonly #out: Terminal;
  readonly #clock: Clock;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  constructor(out: Terminal, clock: Clock) {
    this.#out = out;
    this.#clock = clock;
  }

  advanced({ table, doing, rows, of }: Advance): void {
    const now = this.#clock.monotonic();
    if (!this.#out.isInteractive || now - this.#drawnAt < DRAW_MS) return;
    this.#drawnAt = now;
    this.#isDrawn = true;
    const share = of === 0 ? 100 : Math.min(100, Math.floor((100 * rows) / of));
    const line = `${doing} ${table}: ${numberText(rows)} of ${numberText(of)} rows, ${share} %`;
    this.#out.redraw(line.slice(0, this.#out.width - 1));
  }

  end(): void {
    if (this.#isDrawn) this.#out.redraw();
    this.#isDrawn = false;
  }
}

/** A line a table, and one about all of them. */
function copyLines({ from, to, tables, difference }: Copied): string[] {
  const width = Math.max(...tables.map(({ table }) => table.length));
  const counts = tables.map(({ source }) => numberText(source.rows));
  const digits = Math.max(...counts.map((count) => count.length));
  const lines = tables.map(
    (each, at) =>
      `${each.table.padEnd(width)}  ${counts[at]?.padStart(digits)}  ${verdictOf(each)}`,
  );
  if (difference) return lines;
  const rows = tables.reduce((sum, { source }) => sum + source.rows, 0);
  const all = `${counted(rows, "row")} in ${counted(tables.length, "table")}`;
  return [...lines, printable(`copied and compared every row: ${all}; from ${from} to ${to}`)];
}

function verdictOf({ source, target, difference }: Compared): string {
  if (!difference) return `the same  sha256 ${source.digest}`;
  return `differs: ${counted(target.rows, "row")} in the copy, ${differenceText(difference)}`;
}

/** `document=5 number=2 differs in detail`. */
function differenceText({ row, what }: RowDifference): string {
  if (what === "missing") return `${row} is missing from the copy`;
  if (what === "extra") return `${row} is only in the copy`;
  return `${row} differs in ${what.join(", ")}`;
}

/** The same for programs. */
function copyRecord({ from, to, tables, difference }: Copied) {
  return {
    from,
    to,
    same: difference === undefined,
    tables: tables.map(({ table, source, target, ...rest }) => ({
      table,
      rows: source.rows,
      rowsInCopy: target.rows,
      digest: source.digest,
      same: rest.difference === undefined,
    })),
    difference: difference ?? null,
  };
}
