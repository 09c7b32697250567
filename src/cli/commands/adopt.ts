import type { Command } from "commander";
import type { Document } from "../../domain/document.ts";
import type { Change, DocumentReader } from "../../journal/journal.ts";
import { exact, joinRaw, shown } from "../../std/raw-path.ts";
import {
  adopting,
  type AdoptionMatch,
  endFirstRuns,
  uncompared,
  type UnsentDocument,
} from "../../sync/adopter.ts";
import {
  claimedByName,
  liveMirrors,
  lookInArchives,
  vouching,
} from "../../sync/look-in-archives.ts";
import { applyEach } from "../../sync/retry.ts";
import { growSlowly } from "../../std/heap.ts";
import { EXIT } from "../exit.ts";
import { printable } from "../../std/printable.ts";
import { isKeyboard, Questions } from "../questions.ts";
import type { Shell } from "../shell.ts";
import { counted } from "../../std/wording.ts";
import { secretsOf } from "../../config/config.ts";
import { examples } from "../option-values.ts";
import { onePass } from "./sync.ts";

type Options = {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly trustContent?: boolean;
};

/** What a person is asked with --trust-content, before it is done. */
const TRUST = `--trust-content: these documents, and those that adopt claimed before, count as having the very content
of the local files, which the archive cannot show. Files are then moved or deleted where \`after\` says so, and
other files of the same content are not sent. A document of the same name and size with other content would be lost.`;

/** `scanferry adopt`: claims what is in the archive already. */
export function addAdopt(program: Command, shell: Shell): void {
  program
    .command("adopt")
    .description("claim documents that the archive already has, without sending them again")
    .option("--dry-run", "show what would be claimed, and claim nothing")
    .option("-y, --yes", "claim them without asking")
    .option("--json", "print one JSON object a line")
    .option(
      "--trust-content",
      "claimed documents have the content of their files: `after` may move or delete the files",
    )
    .action((options: Options) => adopt(shell, options))
    .addHelpText(
      "after",
      `${examples("scanferry adopt --dry-run", "scanferry adopt")}

For a journal that was lost, or a first run next to an archive that is in use. Files are scanned and
journaled, nothing is sent. A document is claimed when its folder, name and size are the file's, it was
uploaded after the file was last written, and nothing else could be meant. One in another folder is claimed
where the whole archive has no second one of that name and size. What is unclear is shown, and
held by the next \`run\` or \`sync\`; without any such, and with every file compared, the first run is over,
and all that was not claimed is sent. A claimed file is never moved or deleted, as the archive may hold
other content of that name and size, unless --trust-content was given.`,
    );
}

async function adopt(shell: Shell, options: Options): Promise<void> {
  const { json } = options;
  // Loaded only here: it is most of the program, and the other commands start twice as fast.
  const { Daemon } = await import("../../daemon/daemon.ts");
  const { warningsTo } = await import("../run-program.ts");
  growSlowly();
  const { out, err, processContext } = shell;
  const { clock, random } = processContext;
  const config = await shell.config();
  const stopping = shell.stopping();
  const log = warningsTo(err, secretsOf(config));
  const silent = { web: false, tells: false, sending: false };
  const own = { config, log, clock, random, ending: stopping, ...silent };
  await using daemon = await Daemon.open(own);
  const { readWhole, mirrors } = await onePass(daemon, { waitConverted: false }, stopping);
  const looked = await lookInArchives({ config, journal: daemon.journal, clock }, stopping);
  const { found: all, waiting, unasked } = looked;
  for (const found of all) {
    await out.line(json === true ? JSON.stringify(recordOf(found)) : textOf(found));
  }
  for (const line of unasked) await err.line(printable(line));
  const live = await liveMirrors(config, daemon.journal);
  const before = await claimedBefore(options, daemon.journal, new Set(live.keys()));
  for (const document of before) {
    await out.line(json === true ? JSON.stringify(knownRecordOf(document)) : knownTextOf(document));
  }
  const sure = all.filter(({ taken }) => taken !== null).length;
  const unclear = all.length - sure;
  const isClaiming = await mayClaim(shell, options, sure + before.length);
  if (isClaiming) {
    const vouched = (document: UnsentDocument): Change[] => {
      if (options.trustContent !== true) return [];
      const putsAway = live.get(document.mirrorId)?.after.kind !== "keep";
      return [vouching(document, putsAway, clock.now())];
    };
    const claimed = (found: AdoptionMatch): Change[] => {
      const changes = adopting(found, clock.now());
      return changes.length > 0 ? [...changes, ...vouched(found.document)] : [];
    };
    await applyEach(daemon.journal, all, claimed);
    await applyEach(daemon.journal, before, vouched);
  }
  // What is unclear stays behind the guard of the first run, until the archive knows more of it.
  if (isClaiming) {
    const left = all.flatMap(({ taken, document }) => (taken ? [] : [document.id]));
    const parts = { journal: daemon.journal, clock };
    await endFirstRuns(parts, new Set(live.keys()), new Set(left), readWhole);
  }
  if (json !== true) {
    let later = 0;
    for (const mirrorId of live.keys()) later += await uncompared(daemon.journal, mirrorId);
    const partly = mirrors.flatMap(({ name, unread }) => (unread ? [name] : []));
    const isWhole = [...live.keys()].every((id) => readWhole.has(id));
    for (const line of sumLines({ sure, unclear, waiting, later, partly, isWhole, isClaiming }))
      await out.line(line);
    if (options.trustContent === true) await out.line(trustLine(sure + before.length, isClaiming));
  }
  shell.exitCode = unclear > 0 ? EXIT.unsettled : EXIT.done;
}

/**
 * What it came to: counts of documents; `waiting` are those that were sure, and all others that were compared; `later`,
 * those that could not be. `partly`: mirrors with folders that cannot be read; `isWhole`: all were read here.
 */
function sumLines(done: {
  readonly sure: number;
  readonly unclear: number;
  readonly waiting: number;
  readonly later: number;
  readonly partly: readonly string[];
  readonly isWhole: boolean;
  readonly isClaiming: boolean;
}): string[] {
  const { sure, unclear, waiting, later, partly, isWhole, isClaiming } = done;
  const next = sure === 0 ? "" : "; run `scanferry adopt` to claim them";
  const claimed = isClaiming ? "claimed" : `would be claimed${next}`;
  const lines = [`${sure} ${claimed}; ${unclear} unclear, left alone`];
  if (later > 0)
    lines.push(
      `not compared, as they are not finished or cannot be read: ${counted(later, "file")}; then run this again`,
    );
  if (partly.length > 0)
    lines.push(`folders cannot be read: ${partly.join(", ")}; once they can, run this again`);
  // Nothing that was sent can be taken back: it is shown while there is time to look at it.
  const rest = waiting - sure;
  if (unclear > 0 || rest <= 0) return lines;
  const when = isClaiming ? "sent" : "then sent";
  // The guard of a first run that is not over holds the others.
  const which =
    later > 0 || !isWhole ? "where the archive has none of that name" : "by the next run or sync";
  return [...lines, `not claimed, and ${when} ${which}: ${counted(rest, "document")}`];
}

function trustLine(count: number, isClaiming: boolean): string {
  return `content ${isClaiming ? "trusted" : "would be trusted"} of ${counted(count, "document")}`;
}

/** With --trust-content, what was claimed by name and size alone before. */
async function claimedBefore(
  { trustContent = false }: Options,
  journal: DocumentReader,
  mirrorIds: ReadonlySet<number>,
): Promise<Document[]> {
  return trustContent ? Array.fromAsync(claimedByName(journal, mirrorIds)) : [];
}

/** A person has seen what it would be, and is asked; programs have said what they want. */
async function mayClaim(
  { out, processContext: { stdin } }: Shell,
  { dryRun = false, yes = false, json = false, trustContent = false }: Options,
  count: number,
): Promise<boolean> {
  if (dryRun) return false;
  if (yes || json || count === 0 || !out.isInteractive || !isKeyboard(stdin)) return true;
  using questions = new Questions(stdin, out);
  const these = count === 1 ? "it" : `these ${count}`;
  if (!trustContent) return await questions.confirm(`claim ${these}?`, false);
  await out.line(TRUST);
  return await questions.confirm(`claim ${these}, and trust the content?`, false);
}

function recordOf({ document, taken, unclear }: AdoptionMatch) {
  return {
    path: exact(joinRaw(document.dir, document.name)),
    folderId: (taken ?? unclear[0])?.folderId ?? null,
    documentId: taken?.id ?? null,
    candidates: unclear.map(({ id, filesize, uploadedDate }) => ({ id, filesize, uploadedDate })),
  };
}

function knownRecordOf(document: Document) {
  const { folderId, documentId, dir, name } = document;
  return { path: exact(joinRaw(dir, name)), folderId, documentId, candidates: [] };
}

function knownTextOf({ dir, name, documentId }: Document): string {
  return `=  ${printable(shown(joinRaw(dir, name)))}  document ${documentId}, claimed before`;
}

function textOf({ document, isFiled, writtenAt, taken, unclear }: AdoptionMatch): string {
  const path = printable(shown(joinRaw(document.dir, document.name)));
  const filed = isFiled ? `, filed in folder ${taken?.folderId}` : "";
  if (taken) return `=  ${path}  document ${taken.id}${filed}`;
  const all = unclear.map(({ id, folderId, uploadedDate }) => {
    const where = isFiled ? ` in folder ${folderId}` : "";
    const older = uploadedDate < writtenAt ? ", uploaded before the file was written" : "";
    return `document ${id}${where}${older}`;
  });
  return `?  ${path}  could be ${all.join(" or ")}`;
}
