import { createHash } from "node:crypto";
import { constants, createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { type Command, Option } from "commander";
import type { Upload, UploadMetadata } from "../../archive/archive.ts";
import { codeOf, UsageError } from "../../std/fault.ts";
import { moment, wholeNumber } from "../option-values.ts";

/** Parameters of upload (endpoint 7) as options. */
export type UploadOptions = {
  readonly folderId?: number;
  readonly path?: string;
  readonly filename?: string;
  readonly batch?: string;
  readonly expireDate?: number | string;
  readonly metadataTitle?: string;
  readonly metadataAuthor?: string;
  readonly metadataSubject?: string;
  readonly metadataKeywords?: string;
  readonly metadataProducer?: string;
  readonly metadataDescription?: string;
};

/** Flags, meaning, and how a value is read where it is not text. */
const OPTIONS: readonly (readonly [
  flags: string,
  about: string,
  parse?: (text: string) => unknown,
])[] = [
  ["--folder-id <n>", "target folder; default: the root", wholeNumber],
  ["--path <path>", "target folder by path, such as /Scans; instead of --folder-id"],
  ["--filename <name>", "name in the archive; default: the file's own"],
  ["--batch <id>", "batch, at most 36 characters"],
  ["--expire-date <date>", "expiry date, epoch milliseconds", moment],
  ["--metadata-title <text>", "at most 150 characters"],
  ["--metadata-author <text>", "at most 150 characters"],
  ["--metadata-subject <text>", "at most 150 characters"],
  ["--metadata-keywords <text>", "at most 255 characters"],
  ["--metadata-producer <text>", "at most 255 characters"],
  ["--metadata-description <text>", "at most 250 characters"],
];

/** Adds an option for each parameter; the interface's own spelling is taken as well. */
export function addUploadOptions(command: Command): void {
  for (const [flags, about, parse] of OPTIONS) {
    const own = flags.replaceAll(/(?<=[a-z])-([a-z])(?=[^<]*<)/g, (_, letter: string) =>
      letter.toUpperCase(),
    );
    const options = [new Option(flags, about)];
    if (own !== flags) options.push(new Option(own).hideHelp());
    for (const option of options) command.addOption(parse ? option.argParser(parse) : option);
  }
}

/**
 * The upload of a file; close it after use. A file that becomes shorter or longer while it is sent
 * is never sent whole. Throws `UsageError` when it cannot be opened.
 */
export async function readUpload(
  file: string,
  options: UploadOptions,
  cwd: string,
): Promise<{ upload: Upload } & AsyncDisposable> {
  const { folderId, path: folder, batch, expireDate } = options;
  if (folderId !== undefined && folder !== undefined)
    throw new UsageError(
      "archive upload: --folder-id and --path are both given; keep one of the two",
    );
  const path = resolve(cwd, file);
  const handle = await opened(path);
  const { size } = await handle.stat();
  const content = () => createReadStream("", { fd: handle.fd, autoClose: false, start: 0 });
  const upload: Upload = {
    ...(folderId === undefined ? {} : { folderId }),
    ...(folder === undefined ? {} : { path: folder }),
    filename: options.filename ?? basename(path).normalize("NFC"),
    ...(batch === undefined ? {} : { batch }),
    ...(expireDate === undefined ? {} : { expireDate }),
    metadata: metadataOf(options),
    file: { sizeBytes: size, chunks: content },
    sha256: async () => {
      const digest = createHash("sha256");
      for await (const chunk of content()) digest.update(chunk);
      return digest.digest("hex");
    },
  };
  return { upload, [Symbol.asyncDispose]: () => handle.close() };
}

async function opened(path: string): Promise<FileHandle> {
  try {
    // A pipe that nobody writes to would be waited for.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
  } catch (error) {
    throw new UsageError(`${path} cannot be opened (${codeOf(error)}); name a file to send`);
  }
  throw new UsageError(`${path} is not a file; name a file to send`);
}

function metadataOf(options: UploadOptions): UploadMetadata {
  const metadata = {
    title: options.metadataTitle,
    author: options.metadataAuthor,
    subject: options.metadataSubject,
    keywords: options.metadataKeywords,
    producer: options.metadataProducer,
    description: options.metadataDescription,
  };
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined));
}
