import type { Command } from "commander";
import { accountsOf } from "../../config/archives.ts";
import type { Config } from "../../config/config.ts";
import type { KeptJournal } from "../../daemon/kept-journal.ts";
import type { Journal } from "../../journal/journal.ts";
import { exact, joinRaw, shown } from "../../std/raw-path.ts";
import { type Found, adopting, endFirstRuns, findArchived, toBeSent } from "../../sync/adopter.ts";
import { growSlowly } from "../../std/heap.ts";
import { openClient } from "../archive-client.ts";
import { lookUpSettings } from "../archive-settings.ts";
import { examples } from "../examples.ts";
import { EXIT } from "../exit.ts";
import { isKeyboard } from "../keyboard.ts";
import { passTogether } from "../one-pass.ts";
import { jsonLine, printable } from "../printable.ts";
import { Questions } from "../questions.ts";
import type { Shell } from "../shell.ts";
import { counted } from "../wording.ts";
import { secretsOf } from "./run.ts";

type Options = { readonly dryRun?: boolean; readonly yes?: boolean; readonly json?: boolean };

/** `scanferry adopt`: claims what is in the archive already. */
export function addAdopt(program: Command, shell: Shell): void {
  program
    .command("adopt")
    .description("claim documents that are in the archive already, without sending them again")
    .option("--dry-run", "only show what would be claimed")
    .option("-y, --yes", "on a terminal, too, claim them without a question")
    .option("--json", "print one JSON object a line")
    .action((options: Options) => adopt(shell, options))
    .addHelpText(
      "after",
      `${examples("scanferry adopt --dry-run", "scanferry adopt")}

For a journal that was lost, or a first run beside an archive that is in use. Files are scanned and
journaled, nothing is sent. A document is claimed when its folder, name and size are the file's and
nothing else could be meant. What is unclear is shown, and held by the next \`run\` or \`sync\`; without
any such the first run is over, and all that was not claimed is sent.`,
    );
}

async function adopt(shell: Shell, options: Options): Promise<void> {
  const { json } = options;
  // Loaded only here: it is most of the program, and the other commands start twice as fast.
  const { Daemon } = await import("../../daemon/daemon.ts");
  const { warningsTo } = await import("../warnings.ts");
  growSlowly();
  const { out, err, surroundings } = shell;
  const { clock, random } = surroundings;
  const config = await shell.config();
  const stopping = shell.stopping();
  const log = warningsTo(err, secretsOf(config));
  const silent = { web: false, tells: false, sending: false };
  const own = { config, log, clock, random, ending: stopping, ...silent };
  const open = (keptJournal: KeptJournal | undefined) => Daemon.open({ ...own, keptJournal });
  const passed = await passTogether(open, { waitConverted: false }, stopping);
  await using daemon = passed.daemon;
  const { found: all, waiting } = await look(config, daemon.journal, shell, stopping);
  for (const found of all) {
    await out.line(json === true ? jsonLine(recordOf(found)) : textOf(found));
  }
  const sure = all.filter(({ taken }) => taken !== null).length;
  const unclear = all.length - sure;
  const isClaiming = await mayClaim(shell, options, sure);
  if (isClaiming) {
    for (const found of all) await daemon.journal.apply(adopting(found, clock.now()));
  }
  // What is unclear stays behind the guard of the first run, until the archive knows more of it.
  if (isClaiming && unclear === 0) {
    await endFirstRuns({ journal: daemon.journal, clock }, await liveIds(config, daemon.journal));
  }
  if (json !== true) {
    for (const line of sumLines({ sure, unclear, waiting, isClaiming })) await out.line(line);
  }
  shell.exitCode = unclear > 0 ? EXIT.unsettled : EXIT.done;
}

/** What it came to: counts of documents; `waiting` are those that were sure, and all others. */
function sumLines(done: {
  readonly sure: number;
  readonly unclear: number;
  readonly waiting: number;
  readonly isClaiming: boolean;
}): string[] {
  const { sure, unclear, waiting, isClaiming } = done;
  const claimed = isClaiming ? "claimed" : "would be claimed; `scanferry adopt` claims them";
  const summed = `${sure} ${claimed}; ${unclear} unclear, left alone`;
  // Nothing that was sent can be taken back: it is told while there is time to look at it.
  const rest = waiting - sure;
  if (unclear > 0 || rest <= 0) return [summed];
  const when = isClaiming ? "sent" : "then sent";
  return [summed, `not claimed, and ${when} by the next run or sync: ${counted(rest, "document")}`];
}

/** A person has seen what it would be, and is asked; programs have said what they want. */
async function mayClaim(
  { out, surroundings: { stdin } }: Shell,
  { dryRun = false, yes = false, json = false }: Options,
  sure: number,
): Promise<boolean> {
  if (dryRun) return false;
  if (yes || json || sure === 0 || !out.isInteractive || !isKeyboard(stdin)) return true;
  using questions = new Questions(stdin, out);
  return await questions.confirm(sure === 1 ? "claim it?" : `claim these ${sure}?`, false);
}

/** Looks in every archive for the files of its own mirrors; `waiting`: how many there are. */
async function look(
  config: Config,
  journal: Journal,
  { clock }: Shell,
  signal: AbortSignal,
): Promise<{ readonly found: Found[]; readonly waiting: number }> {
  const found: Found[] = [];
  let waiting = 0;
  const rows = await journal.archives();
  for (const account of accountsOf(config)) {
    await using archive = await openClient(lookUpSettings(account), clock);
    const row = rows.find(({ name }) => name === account.archive.name);
    if (!row) continue;
    const mirrorIds = await liveIds(account, journal);
    const own = { journal: journal.of(row.id), archive };
    const documents = await Array.fromAsync(toBeSent(own.journal, mirrorIds));
    for await (const each of findArchived(own, documents, signal)) found.push(each);
    waiting += documents.length;
  }
  return { found, waiting };
}

/** Ids of the mirrors that are configured. */
async function liveIds({ mirrors }: Config, journal: Journal): Promise<Set<number>> {
  const names = new Set(mirrors.map(({ name }) => name));
  const live = (await journal.mirrors()).filter(({ name }) => names.has(name));
  return new Set(live.map(({ id }) => id));
}

function recordOf({ document, folderId, taken, unclear }: Found) {
  return {
    path: exact(joinRaw(document.dir, document.name)),
    folderId,
    documentId: taken?.id ?? null,
    candidates: unclear.map(({ id, filesize, uploadedDate }) => ({ id, filesize, uploadedDate })),
  };
}

function textOf({ document, taken, unclear }: Found): string {
  const path = printable(shown(joinRaw(document.dir, document.name)));
  if (taken) return `=  ${path}  document ${taken.id}`;
  return `?  ${path}  could be ${unclear.map(({ id }) => `document ${id}`).join(" or ")}`;
}
