import { accessSync, constants } from "node:fs";
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import type { EmbeddedArchiveOptions } from "../../embedded-archive/embedded-archive.ts";
import { codeOf } from "../../std/fault.ts";
import { makeDirectory } from "../../std/make-directory.ts";
import { growSlowly } from "../../std/heap.ts";
import { examples } from "../examples.ts";
import { UsageError } from "../exit.ts";
import { accounts, duration, folderPaths, listenAddress, wholeNumber } from "../option-values.ts";
import type { Shell } from "../shell.ts";
import { type AccountOptions, accountsFrom } from "./serve-archive-accounts.ts";
import {
  addServeArchiveOptions,
  type ServeArchiveOptions,
  settingsOfMore,
} from "./serve-archive-options.ts";

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
