import { type Command, Option } from "commander";
import { type Document, type State, STATES } from "../../domain/document.ts";
import { type DocumentRecord, recordOf } from "../../sync/record.ts";
import { exact, joinRaw } from "../../std/raw-path.ts";
import { queriesOf } from "../selection.ts";
import type { Shell } from "../shell.ts";
import { printable } from "../../std/printable.ts";
import type { Terminal } from "../terminal.ts";
import { readJournal } from "../../journal/open-journal.ts";
import { examples } from "../option-values.ts";
import { cut, cutMiddle, padded, widthOf } from "../text-table.ts";
import { STATE_STYLES } from "../status-lines.ts";
import { counted, numberText, sizeText } from "../../std/wording.ts";

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

/** The list as a person reads it on a terminal: a line a document, none longer than the screen is wide. */

const HEADINGS = [
  padded("state", 9),
  padded("document", 8),
  padded("pages", 6, "right"),
  padded("size", 8, "right"),
];

/** A path is not cut shorter than this; what is said of it, and of numbers the last, are left out instead. */
const PATH_COLUMNS_MIN = 20;

class ListScreen {
  readonly #out: Terminal;
  readonly #counts = new Map<State, number>();
  #mirror: string | undefined;

  constructor(out: Terminal) {
    this.#out = out;
  }

  /** The lines for one document: its own, and a heading before the first of a mirror. */
  linesOf(record: DocumentRecord): string[] {
    const out = this.#out;
    const isFirst = record.mirror !== this.#mirror;
    const title = out.paint("bold", printable(record.mirror));
    const columnsMax = columnsIn(out.width);
    const names = [...HEADINGS.slice(0, columnsMax), "file"].join("  ");
    const heading = [...(this.#mirror === undefined ? [] : [""]), title, out.paint("dim", names)];
    this.#mirror = record.mirror;
    this.#counts.set(record.state, (this.#counts.get(record.state) ?? 0) + 1);
    const columns = columnsOf(record, out, columnsMax);
    const room = out.width - widthOf(columns) - 2;
    const note = remarksOf(record, record.error?.code ?? "");
    const noteRoom = Math.max(0, room - PATH_COLUMNS_MIN - 2);
    const shownNote = note === "" || noteRoom < 6 ? "" : cut(printable(note), noteRoom);
    const path = cutMiddle(record.path, room - (shownNote === "" ? 0 : widthOf(shownNote) + 2));
    const end = shownNote === "" ? "" : `  ${out.paint("dim", shownNote)}`;
    return [...(isFirst ? heading : []), `${columns}  ${path}${end}`];
  }

  /** The last line: how many, and in which states. */
  sum(): string {
    const all = [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
    const states = STATES.filter((state) => this.#counts.has(state)).map((state) =>
      this.#out.paint(STATE_STYLES[state], `${numberText(this.#counts.get(state) ?? 0)} ${state}`),
    );
    return states.length === 0
      ? "no document"
      : `${counted(all, "document")}: ${states.join(", ")}`;
  }
}

/** How many columns leave room for a path; the state always stays. */
function columnsIn(width: number): number {
  const widthsOf = (count: number) =>
    HEADINGS.slice(0, count).reduce((sum, heading) => sum + heading.length + 2, 0);
  let count = HEADINGS.length;
  while (count > 1 && width - widthsOf(count) < PATH_COLUMNS_MIN) count -= 1;
  return count;
}

/** State, document id, pages, size: what never grows; of these the first. */
export function columnsOf(
  record: DocumentRecord,
  out: Terminal,
  columnsMax = HEADINGS.length,
): string {
  const state = out.paint(STATE_STYLES[record.state], padded(record.state, 9));
  const id = padded(record.documentId === null ? "-" : String(record.documentId), 8, "right");
  const pages = padded(record.pages === null ? "-" : `${record.pages} p`, 6, "right");
  const size = padded(sizeText(record.size), 8, "right");
  return [state, id, pages, size].slice(0, columnsMax).join("  ");
}

type AfterAction = Pick<DocumentRecord, "current" | "goneAt" | "after" | "afterMessage">;

/** It is where it was, as its after-action was refused: for good, or until it is tried again. */
function isAfterPending({ current, goneAt, after, afterMessage }: AfterAction): boolean {
  if (!current || goneAt !== null || afterMessage === null) return false;
  return after === "refused" || after === "due";
}

/** What there is to say of a document, after its problem. */
export function remarksOf(record: DocumentRecord, problem: string): string {
  const { current, goneAt, afterMessage, remark } = record;
  const stayed = isAfterPending(record) ? `not moved or deleted: ${afterMessage}` : "";
  const isSaid = (text: string | null) => text !== null && text !== "";
  return [
    [problem, remark, stayed].filter(isSaid).join("; "),
    record.attributes?.unfinished === true ? "(unfinished by its format)" : "",
    current ? "" : "(an earlier revision)",
    goneAt === null ? "" : "(the local file is gone or left out)",
  ]
    .filter(isSaid)
    .join(" ");
}
