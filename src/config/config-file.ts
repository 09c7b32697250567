import { type FileHandle, open, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { codeOf } from "../std/fault.ts";
import { ConfigError } from "./config-problems.ts";
import { isEnough } from "./environment.ts";
import { type Caller, callerNow, otherWriter, type Owned } from "../std/other-writer.ts";
import { pathIn } from "./place-kinds.ts";
import { quotedPath } from "../std/printable.ts";

/** A configuration file as it was found. */
export type ConfigFile = {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  /** False where there is none, and the environment says everything: `path` is where one would be looked for. */
  readonly isWritten: boolean;
  /** Permission bits. */
  readonly mode: number;
};

/** Where to look. */
export type ConfigPlaces = {
  /** What `--config` says. */
  readonly file?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Who looks; the process's user unless a test says otherwise. */
  readonly caller?: Caller;
  /** Hears why the file of the working directory is not used, where another is. */
  readonly skipped?: ((line: string) => void) | undefined;
};

/** A guess: the largest configuration anyone writes is a hundred times smaller. */
const SIZE_BYTES_MAX = 1024 * 1024;

/**
 * Finds and reads the configuration: `--config`, else `$SCANFERRY_CONFIG`, else `./scanferry.yaml`,
 * else `/etc/scanferry/scanferry.yaml`. A file that was asked for by name must exist; that of the
 * working directory is used only if nobody but the caller and root can write it or its directory,
 * since what it names is run. Where there is none, the environment may be enough. Throws `ConfigError`.
 */
export async function readConfigFile(options: ConfigPlaces): Promise<ConfigFile> {
  const { file, env, cwd } = options;
  const named = file ?? (env["SCANFERRY_CONFIG"] || undefined);
  if (named !== undefined) {
    const origin = file === undefined ? "$SCANFERRY_CONFIG" : "--config";
    // A script whose variable is not set: taken for no option, it would use another file than is meant.
    if (named === "") return refuse("", `${origin} names no file`, "name one that exists");
    const path = resolve(
      cwd,
      pathIn(named, (message, fix) => refuse("", `${origin}: ${message}`, fix)),
    );
    const found = await readIfThere(path);
    return found ?? refuse(path, `no such file (named by ${origin})`, "name one that exists");
  }
  const here = resolve(cwd, "scanferry.yaml");
  const usual = resolve("/etc/scanferry/scanferry.yaml");
  const caller = options.caller ?? callerNow();
  let distrusted = await foreignAt(here, caller);
  if (distrusted === undefined) {
    // Asked again of what was opened: a link may lead to something else by now.
    const found = await readIfThere(here, (stat) => {
      distrusted = otherWriter(stat, caller);
      return distrusted === undefined;
    });
    if (found !== undefined) return found;
  }
  const notUsed = `${quotedPath(here)} is not used: ${distrusted}`;
  const other =
    (await readIfThere(usual)) ??
    (isEnough(env) ? { path: here, text: "", isWritten: false, mode: 0o600 } : undefined);
  if (other !== undefined) {
    if (distrusted !== undefined)
      options.skipped?.(`${notUsed}; to use it all the same, name it by --config`);
    return other;
  }
  return refuse(
    "",
    `no configuration: ${distrusted === undefined ? `there is no ${here} and` : `${notUsed}; there is`} no ${usual}, ` +
      "and neither --config nor $SCANFERRY_CONFIG names one",
    distrusted === undefined
      ? "write a starter with: scanferry init; or set $SCANFERRY_ARCHIVE_URL and $SCANFERRY_MIRROR_SOURCE"
      : "if you trust it, name it by --config",
  );
}

/** Who else can write the file or its directory, in words; undefined: nobody, or there is no file. */
async function foreignAt(path: string, caller: Caller): Promise<string | undefined> {
  const file = await statIfThere(path);
  if (file === undefined) return undefined;
  const directory = await statIfThere(dirname(path));
  const ofFile = otherWriter(file, caller);
  const ofDirectory = directory && otherWriter(directory, caller);
  if (ofFile !== undefined) return `it ${ofFile}`;
  return ofDirectory === undefined ? undefined : `its directory ${ofDirectory}`;
}

async function statIfThere(path: string): Promise<Owned | undefined> {
  return stat(path).catch(() => undefined);
}

async function readIfThere(
  path: string,
  isTrusted: (stat: Owned) => boolean = () => true,
): Promise<ConfigFile | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, "r");
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return refuse(path, `cannot be opened (${code ?? "unknown error"})`, "make it readable");
  }
  try {
    const stat = await handle.stat();
    if (!isTrusted(stat)) return undefined;
    if (stat.isDirectory()) return refuse(path, "is a directory", "name the file in it");
    // A pipe, as of a program that decrypts it, has no size; a device may have no end.
    const bytes = await buffer(handle.createReadStream({ end: SIZE_BYTES_MAX, autoClose: false }));
    if (bytes.length > SIZE_BYTES_MAX)
      return refuse(path, "is larger than 1 MiB", "name another file");
    return { path, text: decode(path, bytes), isWritten: true, mode: stat.mode & 0o777 };
  } finally {
    await handle.close();
  }
}

function decode(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return refuse(path, "is not UTF-8 text", "save it as UTF-8");
  }
}

function refuse(path: string, message: string, fix: string): never {
  throw new ConfigError([{ file: path, key: "", message, fix }]);
}
