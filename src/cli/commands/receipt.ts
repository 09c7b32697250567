import { type Command, Option } from "commander";
import type { BatchProgress, Batches, Registry } from "../../journal/journal.ts";
import {
  type Receipt,
  RECEIPT_DOCUMENTS_MAX,
  receiptJson,
  receiptOf,
  receiptText,
} from "../../receipts/receipt.ts";
import { receiptHtml } from "../../receipts/receipt-html.ts";
import { table } from "../text-table.ts";
import { EXIT } from "../exit.ts";
import { printable } from "../../std/printable.ts";
import type { Shell } from "../shell.ts";
import { timeText } from "../../std/wording.ts";
import { readJournal } from "../../journal/open-journal.ts";
import { examples } from "../option-values.ts";
import { UsageError } from "../../std/fault.ts";

/** Batches that are listed, or that the beginning of an id is looked for among. */
const LISTED_MAX = 20;
const LOOKED_AT_MAX = 10_000;

/** On a screen: enough to tell one batch from another, and to name it by. */
const ID_COLUMNS = 13;

type Options = { readonly json?: boolean; readonly html?: boolean };

/** `scanferry receipt`: what a batch left in the archive. */
export function addReceipt(program: Command, shell: Shell): void {
  program
    .command("receipt")
    .description("print the receipt of a batch; without an id, list the latest batches")
    .argument("[batch]", "the batch's id, or the beginning of it")
    .option("--json", "print JSON")
    .addOption(new Option("--html", "print a HTML page").conflicts("json"))
    .action((batch: string | undefined, options: Options) => receipt(shell, batch, options))
    .addHelpText(
      "after",
      examples("scanferry receipt", "scanferry receipt 5f0c1d --html > receipt.html"),
    );
}

async function receipt(shell: Shell, batch: string | undefined, options: Options): Promise<void> {
  const config = await shell.config();
  await using journal = await readJournal(config);
  if (batch === undefined) {
    if (options.html === true) throw new UsageError("--html needs a batch; see scanferry receipt");
    await listBatches(shell, journal, options.json === true);
    return;
  }
  const found = await findReceipt(journal, batch);
  const textOf = options.html ? receiptHtml : options.json ? receiptJson : receiptText;
  await shell.out.write(textOf(found));
  shell.exitCode = found.closedAt === null ? EXIT.unsettled : EXIT.done;
}

async function findReceipt(
  journal: (Batches & Registry) | undefined,
  typed: string,
): Promise<Receipt> {
  for (const batch of journal ? await idsOf(journal, typed) : []) {
    const documents = (await journal?.inBatch(batch, RECEIPT_DOCUMENTS_MAX)) ?? [];
    const [first] = documents;
    if (!first) continue;
    const rows = (await journal?.mirrors()) ?? [];
    const mirror = rows.find(({ id }) => id === first.mirrorId)?.name ?? "";
    return receiptOf({ batch, mirror, documents });
  }
  throw new UsageError(`no batch ${JSON.stringify(typed)} has documents; see scanferry receipt`);
}

/** The id as it is typed, or the one that begins so. */
async function idsOf(journal: Batches, typed: string): Promise<string[]> {
  const latest = await journal.latestBatches(LOOKED_AT_MAX);
  const ids = latest.map(({ id }) => id).filter((id) => id.startsWith(typed));
  if (ids.length > 1 && !ids.includes(typed)) {
    throw new UsageError(
      `${typed} begins the ids of several batches: ${ids.slice(0, 3).join(", ")}`,
    );
  }
  // Retention may have let go of the batch itself, and not yet of its documents.
  return ids.includes(typed) || ids.length === 0 ? [typed] : ids;
}

async function listBatches(
  { out }: Shell,
  journal: (Batches & Registry) | undefined,
  json: boolean,
): Promise<void> {
  const batches = (await journal?.latestBatches(LISTED_MAX)) ?? [];
  const names = new Map((await journal?.mirrors())?.map(({ id, name }) => [id, name]));
  const nameOf = ({ mirrorId }: BatchProgress) => names.get(mirrorId) ?? "";
  if (json) {
    for (const batch of batches) {
      const { mirrorId: _mirrorId, id, ...rest } = batch;
      await out.line(JSON.stringify({ batch: id, mirror: nameOf(batch), ...rest }));
    }
    return;
  }
  const rows = batches.map((batch) => {
    const all = Object.values(batch.states).reduce((sum, count) => sum + count, 0);
    const done = batch.states.converted ?? 0;
    const state = all > 0 && done === all ? "closed" : "open";
    const documents = `${done} of ${all}`;
    return [
      out.isInteractive ? batch.id.slice(0, ID_COLUMNS) : batch.id,
      state,
      documents,
      `${batch.pages} p`,
      timeText(batch.openedAt),
      nameOf(batch),
    ];
  });
  const heading = ["BATCH", "STATE", "CONVERTED", "PAGES", "OPENED", "MIRROR"];
  if (rows.length === 0) await out.line("no batch yet");
  else for (const line of table([heading, ...rows], [2, 3])) await out.line(printable(line));
}
