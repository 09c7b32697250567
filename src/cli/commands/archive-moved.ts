import type { Command } from "commander";
import { accountsOf, type Config } from "../../config/config.ts";
import { retiredSuffix } from "../../domain/archive-identity.ts";
import type { Document } from "../../domain/document.ts";
import type { ArchiveRow, Change, DocumentReader, Registry } from "../../journal/journal.ts";
import { Fault, UsageError } from "../../std/fault.ts";
import { type Asking, examine, type Examined, remember } from "../../sync/examine-archive.ts";
import { applyEach, probeNow } from "../../sync/retry.ts";
import type { Shell } from "../shell.ts";
import { counted } from "../../std/wording.ts";
import { runningDaemon, writeJournal } from "../../journal/open-journal.ts";
import { examples } from "../option-values.ts";
import { lookUpSettings, openClient } from "../../archive/archive-settings.ts";

type Options = { readonly archive?: string; readonly json?: boolean };

/** Nothing is asked of the archive in vain: anyone who typed this waits for the answer. */
const AT_ONCE = Number.POSITIVE_INFINITY;

/** `scanferry archive moved` and `archive replaced`: a person says which archive it is, after ARCHIVE_CHANGED. */
export function addMoved(archive: Command, shell: Shell): void {
  archive
    .command("moved")
    .description(
      "after ARCHIVE_CHANGED: it is the same archive, with another address or account key",
    )
    .option("--archive <name>", "one of several archives")
    .option("--json", "print one JSON object")
    .action((options: Options) => moved(shell, options))
    .addHelpText("after", examples("scanferry archive moved"));
  archive
    .command("replaced")
    .description("after ARCHIVE_CHANGED: it is another archive, send everything to it")
    .option("--archive <name>", "one of several archives")
    .option("--json", "print one JSON object")
    .action((options: Options) => replaced(shell, options))
    .addHelpText("after", examples("scanferry archive replaced"));
}

async function moved(shell: Shell, options: Options): Promise<void> {
  const config = await shell.config();
  await using journal = await writeJournal(config);
  const { account, row } = await meant(options, config, journal);
  const own = journal.of(row.id);
  const { now } = await examined(shell, account, own);
  await remember(own, now, true);
  await probeNow(own, shell.clock.now());
  await tell(shell, config, options, { archive: row.name, answer: "moved" }, [
    `${now.url} is the archive of this journal; what was sent is not sent again`,
  ]);
}

async function replaced(shell: Shell, options: Options): Promise<void> {
  const config = await shell.config();
  await using journal = await writeJournal(config);
  const { account, row } = await meant(options, config, journal);
  const { now, hasOurs } = await examined(shell, account, journal.of(row.id));
  if (hasOurs)
    throw new UsageError(`${now.url} has documents that were sent to it: nothing is sent again`);
  const at = shell.clock.now();
  const { unsent, gone } = await leftIn(journal, row);
  await applyEach(journal, unsent, (each) => [forgetting(each, at)]);
  const suffix = retiredSuffix(at);
  await journal.retireArchive(row.id, suffix);
  await tell(shell, config, options, { archive: row.name, answer: "replaced", gone }, [
    `all files are sent to the archive that is configured now; what was sent to the other stays in the journal, as of "${row.name}${suffix}"`,
    ...(gone === 0
      ? []
      : [
          `${counted(gone, "document")} of it cannot be sent again: the file is not there any more`,
        ]),
  ]);
}

/** What the archive that is configured now says. Rejects with `ArchiveError` where it cannot be asked. */
async function examined(
  shell: Shell,
  account: Config,
  journal: Asking["journal"],
): Promise<Examined> {
  await using archive = await openClient(lookUpSettings(account), shell.clock);
  const asking = { archive, journal, account: account.archive, upload: account.upload };
  return await examine(asking, AT_ONCE, shell.stopping());
}

/** The archive that is meant, as configured and as the journal has it. */
async function meant(
  { archive: wanted }: Options,
  config: Config,
  journal: Registry,
): Promise<{ account: Config; row: ArchiveRow }> {
  const accounts = accountsOf(config);
  const names = accounts.map(({ archive }) => archive.name).join(", ");
  if (wanted === undefined && accounts.length > 1)
    throw new UsageError(`there are several archives; choose one with --archive: ${names}`);
  const account = accounts.find(({ archive }) => archive.name === (wanted ?? names));
  if (!account) throw new UsageError(`there is no archive ${wanted}; there are: ${names}`);
  const row = (await journal.archives()).find(({ name }) => name === account.archive.name);
  if (row) return { account, row };
  const message = `the journal does not know the archive ${account.archive.name}`;
  throw new Fault("ARCHIVE_UNKNOWN", message, "Nothing needs to be done: start the daemon.");
}

/** Rows of what was never sent, whose files are seen again; and how many were sent and have no file here. */
async function leftIn(
  journal: DocumentReader & Registry,
  { id }: ArchiveRow,
): Promise<{ unsent: Document[]; gone: number }> {
  const unsent: Document[] = [];
  let gone = 0;
  for (const mirror of await journal.mirrors()) {
    if (mirror.archiveId !== id) continue;
    for await (const document of journal.list({ mirrorId: mirror.id })) {
      if (isUnsent(document)) unsent.push(document);
      else if (document.current && document.goneAt !== null) gone += 1;
    }
  }
  return { unsent, gone };
}

function isUnsent({ state, documentId, doubtAt }: Document): boolean {
  const isOpen =
    state === "settling" || state === "pending" || state === "held" || state === "failed";
  return isOpen && documentId === null && doubtAt === null;
}

function forgetting({ id, state }: Document, at: number): Change {
  return { type: "forget", id, at, why: "the archive was replaced", from: [state], restore: true };
}

async function tell(
  shell: Shell,
  config: Config,
  { json }: Options,
  said: object,
  lines: readonly string[],
): Promise<void> {
  const running = (await runningDaemon(config)) !== undefined;
  if (json === true) {
    await shell.out.line(JSON.stringify({ ...said, running }));
    return;
  }
  for (const line of lines) await shell.out.line(line);
  if (!running) await shell.out.line("the daemon is not running: this takes effect when it starts");
}
