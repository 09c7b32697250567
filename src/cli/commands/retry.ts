import { type Command, Option } from "commander";
import type { Document } from "../../domain/document.ts";
import type { DocumentWriter, Journal, ListQuery } from "../../journal/journal.ts";
import { afterActionNow, isBehindGate, probeNow, retryOf } from "../../sync/retry.ts";
import { EXIT } from "../exit.ts";
import { covers, queriesOf } from "../selection.ts";
import type { Shell } from "../shell.ts";
import { counted } from "../../std/wording.ts";
import { runningDaemon, writeJournal } from "../../journal/open-journal.ts";
import { examples, upperCase } from "../option-values.ts";

/** Rows of one commit. */
const CHUNK = 500;

type Options = {
  readonly state?: "held" | "failed";
  readonly error?: string;
  readonly mirror?: string;
  readonly anyway?: boolean;
  readonly json?: boolean;
};

/** What was done, by kind. */
type Total = {
  queued: number;
  /** Held because the archive rejects the account: it is asked again, not each document. */
  gated: number;
  /** Had been archived, and were gone from the archive. */
  again: number;
  /** Without content, when they were last looked at: never sent, whatever is asked for. */
  empty: number;
  /** Archived, with a file that could not be moved or deleted: that is tried now. */
  afterAction: number;
};

/** The code of a file that may still become whole. */
const UNFINISHED = "FILE_UNFINISHED";
/** The code of a file without content. */
const EMPTY = "FILE_EMPTY";

/** Which mirrors' archives refuse the account, when it is, and whether what looks unfinished goes too. */
type Requeuing = {
  readonly closed: ReadonlySet<number>;
  readonly at: number;
  readonly anyway: boolean;
};

/** `scanferry retry`: put held or failed documents back in the queue, and try again to move or delete files. */
export function addRetry(program: Command, shell: Shell): void {
  program
    .command("retry")
    .description("send held or failed documents again; try again to move or delete files")
    .argument("[path...]", "files or directories; default: all")
    .addOption(new Option("--state <state>", "only these").choices(["held", "failed"]))
    .option("--error <code>", "only with this error, e.g. FILE_SIZE_TOO_BIG", upperCase)
    .option("--mirror <name>", "only of this mirror")
    .option("--anyway", "send files although their format says that they are unfinished")
    .option("--json", "print one JSON object")
    .action((paths: string[], options: Options) => retry(shell, paths, options))
    .addHelpText(
      "after",
      examples(
        "scanferry retry --state failed",
        "scanferry retry --error QUOTA_LIMIT",
        "scanferry retry --anyway Invoices/cut.pdf",
      ),
    );
}

async function retry(shell: Shell, paths: readonly string[], options: Options): Promise<void> {
  const config = await shell.config();
  await using journal = await writeJournal(config);
  const scope = { ...shell.directory, config, mirror: options.mirror };
  const total: Total = { queued: 0, gated: 0, again: 0, empty: 0, afterAction: 0 };
  const closed = await closedMirrors(journal);
  const anyway = options.anyway === true;
  const queries = await queriesOf(paths, scope, journal);
  for (const query of queries) {
    for (const filter of filtersOf(options)) {
      const rows = journal.list({ ...query, ...filter });
      await requeue(journal, rows, { closed, at: shell.clock.now(), anyway }, total);
    }
  }
  if (options.state === undefined) {
    const code = options.error ?? "";
    const isMeant = (row: Document) =>
      row.afterMessage?.startsWith(code) === true && queries.some((query) => covers(query, row));
    total.afterAction = await afterActionNow(journal, isMeant, shell.clock.now());
  }
  if (total.gated > 0) await probeNow(journal, shell.clock.now());
  const running = (await runningDaemon(config)) !== undefined;
  if (options.json === true) await shell.out.line(JSON.stringify({ ...total, running }));
  else await tell(shell, total, running);
  const { queued, gated, afterAction } = total;
  if (queued + gated + afterAction === 0) shell.exitCode = EXIT.fault;
}

/** What is looked for: with `--anyway` also what still has time to become whole. */
function filtersOf({ state, error, anyway }: Options): Pick<ListQuery, "state" | "code">[] {
  const code = error === undefined ? {} : { code: error };
  const states = state === undefined ? (["held", "failed"] as const) : [state];
  const isMeant = anyway === true && state === undefined && (error ?? UNFINISHED) === UNFINISHED;
  const unfinished = { state: "settling", code: UNFINISHED } as const;
  return [...states.map((each) => ({ state: each, ...code })), ...(isMeant ? [unfinished] : [])];
}

/** Ids of the mirrors whose archive refuses the account. */
async function closedMirrors(journal: Journal): Promise<Set<number>> {
  const closed = new Set<number>();
  for (const { id, archiveId } of await journal.mirrors()) {
    if ((await journal.of(archiveId).gate()).closedAt !== null) closed.add(id);
  }
  return closed;
}

async function requeue(
  journal: DocumentWriter,
  rows: AsyncIterable<Document>,
  { closed, at, anyway }: Requeuing,
  total: Total,
): Promise<void> {
  // Ids first: what is listed must not change under the list.
  const found: Document[] = [];
  for await (const row of rows) found.push(row);
  const waits = (row: Document) => closed.has(row.mirrorId) && isBehindGate(row);
  const others = found.filter((row) => !waits(row));
  total.gated += found.length - others.length;
  for (let from = 0; from < others.length; from += CHUNK) {
    const chunk = others.slice(from, from + CHUNK);
    const applied = await journal.apply(chunk.flatMap((row) => retryOf(row, at, anyway)));
    const done = new Set(applied.flatMap(({ skipped, document }) => (skipped ? [] : document?.id)));
    for (const { id, state, documentId, problem } of chunk) {
      if (!done.has(id)) continue;
      total.queued += 1;
      if (problem?.code === EMPTY) total.empty += 1;
      if (state === "failed" && documentId !== null) total.again += 1;
    }
  }
}

async function tell({ out }: Shell, total: Total, running: boolean): Promise<void> {
  const { queued, gated, again, empty, afterAction } = total;
  if (queued + gated + afterAction === 0) {
    await out.line("nothing to retry: no held or failed document matches");
    return;
  }
  if (queued > 0) await out.line(`${counted(queued, "document")} put back in the queue`);
  if (again > 0) {
    await out.line(
      `${again} of them were archived, but the archive does not have them any more: they are sent again`,
    );
  }
  if (empty > 0) {
    const are = empty === 1 ? "is" : "are";
    await out.line(
      `${empty} of them ${are} empty: empty files are never sent, and are held again until they have content`,
    );
  }
  if (gated > 0) {
    const wait = `${counted(gated, "document")} ${gated === 1 ? "waits" : "wait"}`;
    const when = running ? "now" : "first";
    await out.line(`${wait} until the archive accepts the account: scanferry asks it ${when}`);
  }
  if (afterAction > 0) {
    const files = counted(afterAction, "file");
    await out.line(`${files} to be moved or deleted${running ? " now" : ""}`);
  }
  if (!running) await out.line("the daemon is not running: this takes effect when it starts");
}
