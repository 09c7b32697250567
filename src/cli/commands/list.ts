import { type Command, Option } from "commander";
import { type Document, type State, STATES } from "../../domain/document.ts";
import { type DocumentRecord, recordOf } from "../../sync/record.ts";
import { exact, joinRaw } from "../../std/raw-path.ts";
import { queriesOf } from "../selection.ts";
import type { Shell } from "../shell.ts";
import { columnsOf, isAfterPending, ListScreen, remarksOf } from "../list-screen.ts";
import { printable } from "../../std/printable.ts";
import type { Terminal } from "../terminal.ts";
import { readJournal } from "../../journal/open-journal.ts";
import { examples } from "../option-values.ts";

type Options = {
  readonly json?: boolean;
  readonly state?: State;
  readonly mirror?: string;
  readonly afterPending?: boolean;
};

/** `scanferry list`: the journal's documents, as many as there are, one a line. */
export function addList(program: Command, shell: Shell): void {
  program
    .command("list")
    .description("list the journal's documents")
    .argument("[path...]", "files or directories; default: all")
    .option("--json", "print one JSON object a line")
    .addOption(new Option("--state <state>", "only in this state").choices(STATES))
    .option("--mirror <name>", "only of this mirror")
    .option("--after-pending", "only what `after` could not move or delete")
    .action((paths: string[], options: Options) => list(shell, paths, options))
    .addHelpText(
      "after",
      examples("scanferry list --state held", "scanferry list --json Invoices/2026"),
    );
}

async function list(shell: Shell, paths: readonly string[], options: Options): Promise<void> {
  const config = await shell.config();
  await using journal = await readJournal(config);
  const scope = { ...shell.directory, config, mirror: options.mirror };
  const queries = await queriesOf(paths, scope, journal);
  if (!journal) return;
  const { state } = options;
  const { out } = shell;
  const screen = new ListScreen(out);
  const names = new Map((await journal.mirrors()).map(({ id, name }) => [id, name]));
  const linesOf = (document: Document, mirror: string): string[] => {
    const record = recordOf(document, mirror);
    const path = exact(joinRaw(document.dir, document.name));
    if (options.json === true) return [JSON.stringify({ ...record, path })];
    return out.isInteractive ? screen.linesOf(record) : [textOf(record, out)];
  };
  for (const query of queries) {
    const wanted = state === undefined ? query : { ...query, state };
    for await (const document of journal.list(wanted)) {
      if (out.gone.aborted) return;
      if (options.afterPending === true && !isAfterPending(document)) continue;
      for (const line of linesOf(document, nameIn(names, document))) await out.line(line);
    }
  }
  if (out.isInteractive && options.json !== true) await out.line(screen.sum());
}

function nameIn(names: ReadonlyMap<number, string>, { mirrorId }: Document): string {
  return names.get(mirrorId) ?? "";
}

/** State, document id, pages, size, path: what never grows first. */
function textOf(record: DocumentRecord, out: Terminal): string {
  const { error } = record;
  const note = remarksOf(record, error === null ? "" : `${error.code}: ${error.message}`);
  const shown = note === "" ? "" : `  ${out.paint("dim", printable(note))}`;
  return `${columnsOf(record, out)}  ${printable(record.mirror)}  ${record.path}${shown}`;
}
