import type { Command } from "commander";
import type { Archive, ArchiveSettings, ContainedDocument } from "../../archive/archive.ts";
import { ArchiveError } from "../../archive/archive-error.ts";
import { Fault, UsageError } from "../../std/fault.ts";
import { EXIT } from "../exit.ts";
import type { Shell } from "../shell.ts";
import { addMoved } from "./archive-moved.ts";
import { addUploadOptions, readUpload, type UploadOptions } from "./archive-upload.ts";
import {
  addParameters,
  DIGIDOC_PARAMETERS,
  DOCUMENTS_PARAMETERS,
  FOLDERS_PARAMETERS,
  ID_PARAMETER,
  queryOf,
  SEARCH_PARAMETERS,
  type TypedValues,
} from "./archive-parameters.ts";
import { examples } from "../option-values.ts";
import type { FolderDetail, PageTotals } from "../../wire/shapes.ts";
import { padded, table } from "../text-table.ts";
import { printable } from "../../std/printable.ts";
import { counted, sizeText, timeText } from "../../std/wording.ts";
import { CONNECTIONS, openClient } from "../../archive/archive-settings.ts";
import { accountOf, archiveNameOf, archivesIn } from "../../config/archive-section.ts";
import type { FileShape } from "../../config/config.ts";
import { type ConfigPlaces, readConfigFile } from "../../config/config-file.ts";
import { ConfigError } from "../../config/config-problems.ts";
import { wholeSketchOf } from "../../config/load-config.ts";

/** What came of an operation: the reply as JSON, and as lines for people. */
type Answer = { readonly reply: object; readonly lines: readonly string[] };

/** What every operation takes. */
type Common = { readonly json?: boolean; readonly archive?: string };

const WHICH = ["--archive <name>", "one of several archives"] as const;

type Ask = (archive: Archive, signal: AbortSignal) => Promise<Answer>;

/** Reads what was given, and only then asks: a mistake costs no request, and no configuration. */
type Operation = (given: TypedValues) => Ask;

/** `scanferry archive …`: the interface's seven operations from the shell. */
export function addArchive(program: Command, shell: Shell): void {
  const archive = program
    .command("archive")
    .description("use the archive directly: the interface's seven operations")
    .addHelpText("after", examples("scanferry archive folders", "scanferry archive document 17"));
  archive.action(() => {
    const known = archive.commands.map((command) => command.name()).join(", ");
    const [unknown] = archive.args;
    const what = unknown === undefined ? "needs an operation" : `has no operation ${unknown}`;
    throw new UsageError(`archive ${what}: one of ${known}`);
  });
  addReads(archive, shell);
  addUpload(archive, shell);
  addMoved(archive, shell);
  // Last, because subcommands take it over: it is for the message above alone.
  archive.allowExcessArguments();
}

function addReads(archive: Command, shell: Shell): void {
  const search = archive.command("search").description("search documents and folders");
  positional(search, "query", "query", shell, (given) => {
    const query = queryOf(SEARCH_PARAMETERS, given);
    return async (client, signal) => {
      const reply = await client.search(query, signal);
      return { reply, lines: [...documentsLines(reply), ...foldersLines(reply)] };
    };
  });
  addParameters(search, SEARCH_PARAMETERS);
  search.addHelpText("after", examples("scanferry archive search invoice --pages-start 2"));

  const documents = archive.command("documents").description("list the documents of a folder");
  positional(documents, "folderId", "folder-id", shell, (given) => {
    const query = queryOf(DOCUMENTS_PARAMETERS, given);
    return async (client, signal) => {
      const reply = await client.documents(query, signal);
      return { reply, lines: documentsLines(reply) };
    };
  });
  addParameters(documents, DOCUMENTS_PARAMETERS);
  documents.addHelpText(
    "after",
    examples("scanferry archive documents 17 --sort-by UPLOADED_DATE --sort-desc"),
  );
  addDigidoc(archive, shell);
  addFolders(archive, shell);
}

function addDigidoc(archive: Command, shell: Shell): void {
  const digidoc = archive.command("digidoc").description("list the documents inside a digidoc");
  positional(digidoc, "digidocId", "digidoc-id", shell, (given) => {
    const { digidocId, ...query } = queryOf(DIGIDOC_PARAMETERS, given);
    if (digidocId === undefined) throw new UsageError("digidoc needs --digidoc-id");
    return async (client, signal) => {
      const reply = await client.digidoc({ ...query, digidocId }, signal);
      return { reply, lines: documentsLines(reply) };
    };
  });
  addParameters(digidoc, DIGIDOC_PARAMETERS);
  digidoc.addHelpText("after", examples("scanferry archive digidoc 205 --json"));

  const document = archive.command("document").description("show a document");
  positional(document, "id", "id", shell, (given) => {
    const { id } = queryOf(ID_PARAMETER, given);
    if (id === undefined) throw new UsageError("document needs --id");
    return async (client, signal) => {
      const found = await client.document(id, signal);
      return { reply: { document: found }, lines: fieldLines(found) };
    };
  });
  addParameters(document, ID_PARAMETER);
  document.addHelpText("after", examples("scanferry archive document 205"));
}

function addFolders(archive: Command, shell: Shell): void {
  const folders = archive.command("folders").description("list the subfolders of a folder");
  positional(folders, "folderId", "folder-id", shell, (given) => {
    const query = queryOf(FOLDERS_PARAMETERS, given);
    return async (client, signal) => {
      const reply = await client.folders(query, signal);
      return { reply, lines: foldersLines(reply) };
    };
  });
  addParameters(folders, FOLDERS_PARAMETERS);
  folders.addHelpText(
    "after",
    examples("scanferry archive folders", "scanferry archive folders 17"),
  );

  const folder = archive.command("folder").description("show a folder; default: the root");
  positional(folder, "id", "id", shell, (given) => {
    const { id } = queryOf(ID_PARAMETER, given);
    return async (client, signal) => {
      const found = await client.folder(id, signal);
      return { reply: { folder: found }, lines: fieldLines(found) };
    };
  });
  addParameters(folder, ID_PARAMETER);
  folder.addHelpText("after", examples("scanferry archive folder 17"));
}

/** The parameter that is asked for most may stand without its option's name. */
function positional(
  command: Command,
  name: string,
  flag: string,
  shell: Shell,
  operation: Operation,
): void {
  command.argument(`[${flag}]`, `the same as --${flag}`);
  command.option("--json", "print the reply as JSON");
  command.option(...WHICH);
  command.action(async (value: string | undefined, given: TypedValues & Common) => {
    if (value !== undefined && given[name] !== undefined) {
      throw new UsageError(`${command.name()}: ${flag} is given twice; keep one of the two`);
    }
    const all = value === undefined ? given : { ...given, [name]: value };
    await answer(shell, given, operation(all));
  });
}

function addUpload(archive: Command, shell: Shell): void {
  const upload = archive
    .command("upload <file>")
    .description("send one file, outside of any mirror and without the journal")
    .option("--json", "print the reply as JSON")
    .option(...WHICH);
  addUploadOptions(upload);
  upload.action(async (file: string, options: UploadOptions & Common) => {
    await using request = await readUpload(file, options, shell.cwd);
    await answer(shell, options, async (client, signal) => {
      const document = await client.upload(request.upload, signal).catch((error: unknown) => {
        throw maybeStored(error);
      });
      return { reply: { document }, lines: fieldLines(document) };
    });
  });
  upload.addHelpText("after", examples("scanferry archive upload letter.pdf --folder-id 17"));
}

async function answer(shell: Shell, { json, archive }: Common, ask: Ask): Promise<void> {
  const settings = await readArchiveSettings(shell.places, archive);
  await using client = await openClient(settings, shell.clock);
  const { reply, lines } = await ask(client, shell.stopping()).catch((error: unknown) => {
    throw onceFixed(error);
  });
  if (json === true) await shell.out.line(JSON.stringify({ response: "OK", ...reply }));
  else for (const line of lines) await shell.out.line(line);
  shell.exitCode = EXIT.done;
}

/** What to do about the archive's refusal where no daemon and no mirror stands behind the request. */
const FIXES: Readonly<Record<string, string>> = {
  DOC_NOT_EXIST: "The archive has no such document; scanferry archive search finds others.",
  FOLDER_NOT_EXISTS: "The archive has no such folder; scanferry archive folders lists them.",
  QUOTA_LIMIT: "Buy pages, or wait until the allowance is renewed.",
};

/** No one asks the archive after a lost reply here, and a second upload would be a second document. */
function maybeStored(error: unknown): unknown {
  if (!(error instanceof ArchiveError) || error.kind !== "inDoubt") return error;
  const hint =
    "The archive may have the document all the same: look for it with `scanferry archive search NAME` before you send it again.";
  return new ArchiveError(error.kind, error.code, error.message, { hint, cause: error });
}

/** A refusal with a fix for anyone who typed the request. */
function onceFixed(error: unknown): unknown {
  if (!(error instanceof ArchiveError) || error.kind !== "refused" || error.credentials)
    return error;
  const { code, message } = error;
  if (code.startsWith("INVALID_"))
    return new UsageError(
      `${message.includes(code) ? "" : `${code}: `}${message}; correct the option of this name`,
    );
  const hint = FIXES[code];
  return hint === undefined ? error : new Fault(code, message, hint, { cause: error });
}

/** A page of documents. */
function documentsLines(reply: PageTotals & { documents: readonly ContainedDocument[] }): string[] {
  const rows = reply.documents.map((document) => [
    String(document.id),
    printable(document.status ?? ""),
    String(document.pages),
    sizeText(document.filesize),
    document.uploadedDate === undefined ? "" : timeText(document.uploadedDate),
    String(document.folderId ?? ""),
    printable(document.filename),
  ]);
  if (rows.length === 0) return ["no documents"];
  const heading = ["ID", "STATUS", "PAGES", "SIZE", "UPLOADED", "FOLDER", "NAME"];
  return [...table([heading, ...rows], [0, 2, 3, 5]), pageLine(reply, rows.length, "document")];
}

/** A page of folders. */
function foldersLines(reply: PageTotals & { folders: readonly FolderDetail[] }): string[] {
  const rows = reply.folders.map((folder) => [
    String(folder.id),
    folder.parentId === undefined ? "" : String(folder.parentId),
    timeText(folder.createdDate),
    printable(folder.name),
  ]);
  if (rows.length === 0) return ["no folders"];
  const heading = ["ID", "PARENT", "CREATED", "NAME"];
  return [...table([heading, ...rows], [0, 1]), pageLine(reply, rows.length, "folder")];
}

function pageLine({ paginationPages }: PageTotals, items: number, noun: string): string {
  return paginationPages > 1
    ? `${counted(items, noun)} on this page of ${paginationPages}; see --pagination-index`
    : counted(items, noun);
}

/** A document or a folder, a field a line. */
function fieldLines(fields: object): string[] {
  return Object.entries(fields).map(([name, value]) => {
    const isTime = name.endsWith("Date") && typeof value === "number";
    return `${padded(name, 16)}  ${isTime ? timeText(value) : printable(String(value))}`;
  });
}

/**
 * How an archive is spoken to (the one called `wanted`, else the only one or `main`), from that part of
 * the configuration alone: what is wrong with mirrors or journal does not matter here. Throws
 * `ConfigError` with what does.
 */
async function readArchiveSettings(
  places: ConfigPlaces,
  wanted: string | undefined,
): Promise<ArchiveSettings> {
  const file = await readConfigFile(places);
  const { sketch, findings } = await wholeSketchOf(file, places.env);
  try {
    findings.throwIfAny();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problems = error.problems.filter(({ key }) => /^archives?\b|^$/.test(key));
    if (problems.length > 0) throw new ConfigError(problems);
  }
  const archives = archivesIn(sketch as FileShape);
  const name = archiveNameOf({ archive: wanted }, archives);
  const archive = archives.find((each) => each.name === name);
  if (!archive) throw new UsageError(unknownArchive(wanted, archives));
  const { name: _, network = {}, ...account } = accountOf(archive, places.env);
  return { ...account, network, connections: CONNECTIONS };
}

/** What is wrong with `--archive NAME`, or with its absence. */
function unknownArchive(wanted: string | undefined, archives: readonly { name: string }[]): string {
  const names = archives.map(({ name }) => name).join(", ");
  if (wanted === undefined)
    return `there are several archives; choose one with --archive: ${names}`;
  return `there is no archive ${wanted}; there are: ${names}`;
}
