import { accessSync, constants } from "node:fs";
import { resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { EmbeddedArchiveOptions } from "../../embedded-archive/embedded-archive.ts";
import { codeOf, Fault, UsageError } from "../../std/fault.ts";
import { makeDirectory } from "../../std/make-directory.ts";
import { growSlowly } from "../../std/heap.ts";
import {
  accounts,
  duration,
  examples,
  folderPaths,
  listenAddress,
  size,
  wholeNumber,
} from "../option-values.ts";
import type { Shell } from "../shell.ts";
import { type FaultRule, faultRuleOfText } from "../../embedded-archive/faults.ts";
import {
  type FileLimits,
  SIGNATURE_SCHEMES,
  type SignatureScheme,
} from "../../embedded-archive/archive-options.ts";
import { FILE_FORMATS } from "../../formats/file-format.ts";
import { quotedPath } from "../../std/printable.ts";
import { readText } from "../../std/small-file.ts";

const LISTEN_DEFAULT = "127.0.0.1:8471";

type Options = ServeArchiveOptions &
  AccountOptions & {
    readonly data: string;
    readonly listen: { host: string; port: number };
    readonly folder?: string[];
    readonly quotaPages?: number;
    readonly reminderPlugin: boolean;
    readonly convertDelay: number;
    readonly errorStyle: "bare" | "object";
    readonly errorHttp: "200" | "400";
  };

/** `scanferry serve-archive`: the embedded archive alone. */
export function addServeArchive(program: Command, shell: Shell): void {
  addServeArchiveOptions(program.command("serve-archive"))
    .description("run the embedded archive alone, until SIGTERM or Ctrl-C")
    .requiredOption("--data <dir>", "directory of documents and database; created if missing")
    .addOption(
      new Option("--listen <host:port>", "address; port 0 is any free one")
        .argParser(listenAddress)
        .default(listenAddress(LISTEN_DEFAULT), LISTEN_DEFAULT),
    )
    .option("--account <key:secret>", "an account (repeatable); default demo:demo", accounts)
    .option(
      "--account-file <file>",
      "file with more accounts, one KEY:SECRET per line; or $SCANFERRY_ARCHIVE_ACCOUNTS",
    )
    .option("--folder <path>", "a folder to create if missing (repeatable)", folderPaths)
    .option("--quota-pages <n>", "page allowance of each account", wholeNumber)
    .option("--no-reminder-plugin", "reject expiry dates")
    .addOption(
      new Option("--convert-delay <duration>", "how long documents stay UPLOADED")
        .argParser(duration)
        .default(500, "500ms"),
    )
    .addOption(
      new Option("--error-style <style>", "how error codes are written")
        .choices(["bare", "object"])
        .default("bare"),
    )
    .addOption(
      new Option("--error-http <status>", "HTTP status of errors")
        .choices(["200", "400"])
        .default("200"),
    )
    .action((options: Options) => serve(shell, options))
    .addHelpText(
      "after",
      examples("scanferry serve-archive --data ./archive --listen 127.0.0.1:0 --folder /Scans"),
    );
}

async function serve(shell: Shell, options: Options): Promise<void> {
  // First: a signal while it opens must end it as cleanly as a later one.
  const stopping = shell.untilStopped();
  // Loaded only here: it is most of the program, and the other commands start twice as fast.
  const { EmbeddedArchive } = await import("../../embedded-archive/embedded-archive.ts");
  growSlowly();
  const log = (event: object) => void shell.err.line(JSON.stringify(event));
  const accounts = await accountsFrom(options, shell);
  const settings = { ...settingsOf(options, shell.cwd), accounts, log };
  makeUsable(settings.dataDir);
  await using archive = await EmbeddedArchive.open(settings);
  await shell.out.line(`listening on ${archive.url}`);
  if (archive.adminUrl) await shell.out.line(`administration on ${archive.adminUrl}`);
  await stopped(stopping);
}

/** Throws `UsageError` where no archive can be kept in the directory. */
function makeUsable(directory: string): void {
  try {
    makeDirectory(directory, 0o700);
    // The empty name at the end asks for a directory.
    accessSync(`${directory}/`, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const why = codeOf(error);
    if (why === undefined) throw error;
    const fix = "name a directory that this user can write to";
    throw new UsageError(`--data: ${directory} cannot be used (${why}); ${fix}`);
  }
}

function settingsOf(options: Options, cwd: string): EmbeddedArchiveOptions {
  return {
    dataDir: resolve(cwd, options.data),
    listen: options.listen,
    folders: options.folder,
    quotaPages: options.quotaPages,
    reminderPlugin: options.reminderPlugin,
    ...settingsOfMore(options),
    convertDelayMs: options.convertDelay,
    errorStyle: options.errorStyle,
    errorHttp: options.errorHttp === "400" ? 400 : 200,
  };
}

/** Resolves when `signal` aborts. */
export function stopped(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  else signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}

/** Sizes as `--max-file-size` gives them, one after another. */
type Sizes = { readonly all?: number; readonly byKind: FileLimits };

/** What these options bring. */
export type ServeArchiveOptions = {
  readonly maxFileSize?: Sizes;
  readonly admin?: { host: string; port: number };
  readonly notifyUrl?: string;
  readonly fault?: readonly FaultRule[];
  readonly scheme?: SignatureScheme;
};

/** Adds the options of `serve-archive` that concern limits, administration, expiry and training. */
function addServeArchiveOptions(command: Command): Command {
  return command
    .option(
      "--max-file-size <[kind=]size>",
      "refuse larger files, e.g. 10MB; pdf=50MB for one kind (repeatable)",
      maxFileSize,
    )
    .addOption(
      new Option(
        "--admin <host:port>",
        "address for administration, on this machine only; default: none",
      ).argParser(listenAddress),
    )
    .option("--notify-url <url>", "POST JSON there when an expiry date passes", httpUrl)
    .addOption(
      new Option("--scheme <scheme>", "accept only this signature scheme; default: all").choices(
        SIGNATURE_SCHEMES,
      ),
    )
    .option("--fault <rule>", "inject a fault, e.g. upload:dropAfter,nth=2 (repeatable)", fault);
}

/** The same as options of the archive. */
function settingsOfMore(options: ServeArchiveOptions): Partial<EmbeddedArchiveOptions> {
  return {
    maxFileSizeBytes: options.maxFileSize?.all,
    maxFileSizeByKind: options.maxFileSize?.byKind,
    admin: options.admin,
    notifyUrl: options.notifyUrl,
    faults: options.fault,
    scheme: options.scheme,
  };
}

function maxFileSize(text: string, before: Sizes = { byKind: {} }): Sizes {
  const at = text.indexOf("=");
  if (at < 0) return { ...before, all: size(text) };
  const kind = FILE_FORMATS.find((known) => known === text.slice(0, at));
  if (kind === undefined) {
    throw new InvalidArgumentError(
      `Write a size such as 10MB, or KIND=SIZE: ${FILE_FORMATS.join(", ")}.`,
    );
  }
  return { ...before, byKind: { ...before.byKind, [kind]: size(text.slice(at + 1)) } };
}

function fault(text: string, before: readonly FaultRule[] = []): FaultRule[] {
  try {
    return [...before, faultRuleOfText(text)];
  } catch (error) {
    if (error instanceof Fault) throw new InvalidArgumentError(`${error.message}; ${error.hint}`);
    throw error;
  }
}

function httpUrl(text: string): string {
  const isHttp = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isHttp) throw new InvalidArgumentError("Write an http or https URL.");
  return text;
}

type Accounts = { key: string; secret: string }[];

/** What the options say of accounts. */
export type AccountOptions = {
  readonly account?: Accounts | undefined;
  readonly accountFile?: string | undefined;
};

const VARIABLE = "SCANFERRY_ARCHIVE_ACCOUNTS";

/**
 * Those of `--account`, then those of `--account-file`; without either, those of the variable. Undefined:
 * nobody named any. Throws `UsageError`, never with a secret in it.
 */
export async function accountsFrom(
  { account, accountFile }: AccountOptions,
  { cwd, processContext: { env } }: Pick<Shell, "cwd" | "processContext">,
): Promise<Accounts | undefined> {
  if (accountFile !== undefined) {
    const path = resolve(cwd, accountFile);
    const what = `--account-file: ${quotedPath(path)}`;
    const outcome = await readText(path);
    if (outcome === undefined) throw new UsageError(`${what} is not there; name one that exists`);
    if (!("text" in outcome)) throw new UsageError(`${what} ${outcome.message}; ${outcome.fix}`);
    return linesOf(outcome.text, what, account);
  }
  const given = env[VARIABLE];
  return account ?? (given ? linesOf(given, `$${VARIABLE}`, undefined) : undefined);
}

/** `KEY:SECRET` a line; empty lines and those that begin with `#` are passed over. */
function linesOf(text: string, what: string, before: Accounts | undefined): Accounts {
  let found = before;
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    try {
      found = accounts(line, found);
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      throw new UsageError(`${what}, line ${at + 1}: ${error.message}`);
    }
  }
  if (found === undefined)
    throw new UsageError(`${what} names no account; write KEY:SECRET a line`);
  return found;
}
