import { type FileHandle, open } from "node:fs/promises";
import { resolve } from "node:path";
import { codeOf } from "../std/fault.ts";
import { ConfigError } from "./config-error.ts";

/** A configuration file as it was found. */
export type ConfigFile = {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  /** Permission bits. */
  readonly mode: number;
};

/** Where to look. */
export type ConfigPlaces = {
  /** What `--config` says. */
  readonly file?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
};

/** A guess: the largest configuration anyone writes is a hundred times smaller. */
const SIZE_BYTES_MAX = 1024 * 1024;

/**
 * Finds and reads the configuration: `--config`, else `$SCANFERRY_CONFIG`, else `./scanferry.yaml`,
 * else `/etc/scanferry/scanferry.yaml`. A file that was asked for by name must exist.
 * Throws `ConfigError`.
 */
export async function readConfigFile({ file, env, cwd }: ConfigPlaces): Promise<ConfigFile> {
  const named = file ?? (env["SCANFERRY_CONFIG"] || undefined);
  if (named !== undefined) {
    // A script whose variable is not set: taken for no option, it would use another file than is meant.
    if (named === "") return refuse("", "--config names no file", "name one that exists");
    const path = resolve(cwd, named);
    const origin = file === undefined ? "$SCANFERRY_CONFIG" : "--config";
    const found = await readIfThere(path);
    return found ?? refuse(path, `no such file (named by ${origin})`, "name one that exists");
  }
  const places = [resolve(cwd, "scanferry.yaml"), resolve("/etc/scanferry/scanferry.yaml")];
  for (const path of places) {
    const found = await readIfThere(path);
    if (found !== undefined) return found;
  }
  return refuse(
    "",
    `no configuration: there is no ${places.join(" and no ")}, ` +
      "and neither --config nor $SCANFERRY_CONFIG names one",
    "write a starter with: scanferry init",
  );
}

async function readIfThere(path: string): Promise<ConfigFile | undefined> {
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
    if (stat.isDirectory()) return refuse(path, "is a directory", "name the file in it");
    if (stat.size > SIZE_BYTES_MAX)
      return refuse(path, "is larger than 1 MiB", "name another file");
    return { path, text: decode(path, await handle.readFile()), mode: stat.mode & 0o777 };
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

function refuse(path: string, message: string, mend: string): never {
  throw new ConfigError([{ file: path, key: "", message, mend }]);
}
