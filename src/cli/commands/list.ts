import { type Command, Option } from "commander";
import { type Document, STATES, type State } from "../../domain/document.ts";
import type { Journal, ListQuery } from "../../journal/journal.ts";
import { type DocumentRecord, recordOf } from "../../sync/record.ts";
import { padded } from "../columns.ts";
import { examples } from "../examples.ts";
import { readJournal } from "../journals.ts";
import { queriesOf } from "../selection.ts";
import type { Shell } from "../shell.ts";
import { printable } from "../printable.ts";
import { STATE_STYLES } from "../status-lines.ts";
import { sizeText } from "../wording.ts";

type Options = { readonly json?: boolean; readonly state?: State; readonly mirror?: string };

/** `scanferry list`: the journal's documents, as many as there are, one a line. */
export function addList(program: Command, shell: Shell): void {
  program
    .command("list")
    .description("list the journal's documents")
    .argument("[path...]", "files or directories; all without")
    .option("--json", "print one JSON object a line")
    .addOption(new Option("--state <state>", "only in this state").choices(STATES))
    .option("--mirror <name>", "only of this mirror")
    .action((paths: string[], options: Options) => list(shell, paths, options))
    .addHelpText(
      "after",
      examples("scanferry list --state held", "scanferry list --json Invoices/2026"),
    );
}

async function list(shell: Shell, paths: readonly string[], options: Options): Promise<void> {
  const config = await shell.config();
  await using journal = await readJournal(config);
  const scope = { cwd: shell.cwd, config, mirror: options.mirror };
  const queries = await queriesOf(paths, scope, journal);
  if (!journal) return;
  const { state } = options;
  const lineOf = options.json === true ? JSON.stringify : textIn(shell);
  for (const query of queries) {
    const wanted = state === undefined ? query : { ...query, state };
    for await (const record of records(journal, wanted)) {
      if (shell.out.gone.aborted) return;
      await shell.out.line(lineOf(record));
    }
  }
}

async function* records(journal: Journal, query: ListQuery): AsyncGenerator<DocumentRecord> {
  const names = new Map((await journal.mirrors()).map(({ id, name }) => [id, name]));
  for await (const document of journal.list(query))
    yield recordOf(document, nameIn(names, document));
}

function nameIn(names: ReadonlyMap<number, string>, { mirrorId }: Document): string {
  return names.get(mirrorId) ?? "";
}

/** State, document id, pages, size, path: what never grows first. */
function textIn({ out }: Shell): (record: DocumentRecord) => string {
  return (record) => {
    const state = out.paint(STATE_STYLES[record.state], padded(record.state, 9));
    const id = padded(record.documentId === null ? "-" : String(record.documentId), 8, "right");
    const pages = padded(record.pages === null ? "-" : `${record.pages} p`, 6, "right");
    const size = padded(sizeText(record.size), 8, "right");
    const notes = [
      record.error === null ? "" : `${record.error.code}: ${record.error.message}`,
      record.current ? "" : "(an earlier revision)",
      record.goneAt === null ? "" : "(the local file is gone)",
    ].filter((note) => note !== "");
    const note = notes.length === 0 ? "" : `  ${out.paint("dim", printable(notes.join(" ")))}`;
    return `${state}  ${id}  ${pages}  ${size}  ${printable(record.mirror)}  ${record.path}${note}`;
  };
}
