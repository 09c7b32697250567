/** Small files that a configuration names, most of them with a secret in them, and who may read those. */
import type { BigIntStats } from "node:fs";
import { constants, open } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { codeOf } from "../std/fault.ts";
import type { ConfigFile } from "./config-file.ts";
import type { ConfigProblems, KeyPath } from "./config-problems.ts";
import { quoted, quotedPath } from "./quoted.ts";
import { shellWord } from "../std/wording.ts";

/** A file that a secret was read from, and what it was then: another stamp, another content. */
export type SecretFile = { readonly path: string; readonly stamp: string };

/** Tells a file from what was there before and after it, whether it was replaced or written to. */
export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(":");
}

/** What every look-up needs to know. */
export type SecretContext = {
  readonly config: ConfigFile;
  readonly env: NodeJS.ProcessEnv;
  readonly findings: ConfigProblems;
  /** Where each file that was read is noted. */
  readonly files: SecretFile[];
};

/** Far more than any secret has: a larger file was named by mistake. */
const SECRET_BYTES_MAX = 64 * 1024;

/** Opening a named pipe would wait for its writer; this way it is opened, and refused. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Reports a secret in a configuration that others can read. */
export function reportIfOpen(key: KeyPath, { config, findings }: SecretContext): void {
  if (!readableByOthers(config.mode, 0o044)) return;
  const mode = config.mode.toString(8);
  const message = `the file holds a secret, and others can read it (mode ${mode})`;
  findings.report(key, message, chmodOf(config.path));
}

/** What may be in a file, and who may read it. */
export type FileKind = {
  readonly what: string;
  readonly isSecret: boolean;
  readonly bytesMax: number;
};

const SECRET: FileKind = { what: "secret", isSecret: true, bytesMax: SECRET_BYTES_MAX };

/**
 * Reads a file that the configuration names; undefined, and reported, when that cannot be. A relative one is looked for next to the configuration file, then among the
 * credentials that systemd hands over in `$CREDENTIALS_DIRECTORY`, then in `secrets` next to the
 * configuration, where those credentials come from: a service must not, and root may look there.
 */
export async function readNamedFile(
  written: string,
  key: KeyPath,
  { config, env, findings, files }: SecretContext,
  kind: FileKind = SECRET,
): Promise<{ readonly text: string; readonly shown: string } | undefined> {
  const places = [resolve(dirname(config.path), written)];
  const credentials = env["CREDENTIALS_DIRECTORY"];
  if (credentials && !isAbsolute(written)) places.push(join(credentials, written));
  for (const path of places) {
    const outcome = await readText(path, kind);
    if (outcome === undefined) continue;
    if ("text" in outcome) {
      files.push({ path, stamp: outcome.stamp });
      return { text: outcome.text, shown: quotedPath(path) };
    }
    findings.report(key, `${quotedPath(path)} ${outcome.message}`, outcome.fix);
    return undefined;
  }
  const kept = written.includes("/")
    ? undefined
    : await readText(join(dirname(config.path), "secrets", written), kind);
  if (kept && "text" in kept) return { text: kept.text, shown: quoted(written) };
  if (kept && !kept.message.startsWith("cannot be read")) {
    findings.report(key, `${quoted(`secrets/${written}`)} ${kept.message}`, kept.fix);
    return undefined;
  }
  const message = `there is no file ${places.map(quotedPath).join(" or ")}`;
  const mode = kind.isSecret ? ", with mode 600" : "";
  findings.report(key, message, `write the ${kind.what} into it${mode}`);
  return undefined;
}

/** What was read, or what is wrong and the fix. */
export type ReadOutcome =
  | { readonly text: string; readonly stamp: string }
  | { readonly message: string; readonly fix: string };

/** Reads a small file; a secret may be read by its owner, and a group, alone. Undefined when there is no such file. */
export async function readText(
  path: string,
  kind: FileKind = SECRET,
): Promise<ReadOutcome | undefined> {
  const { what, isSecret, bytesMax } = kind;
  try {
    await using handle = await open(path, OPEN_FLAGS);
    const stat = await handle.stat({ bigint: true });
    const mode = Number(stat.mode);
    if (!stat.isFile()) return { message: "is not a file", fix: `name the file with the ${what}` };
    if (stat.size > bytesMax) {
      return {
        message: `is too large for a ${what}`,
        fix: `name the file with the ${what} alone`,
      };
    }
    if (isSecret && readableByOthers(mode, 0o004)) {
      const shown = (mode & 0o777).toString(8);
      return { message: `can be read by everyone (mode ${shown})`, fix: chmodOf(path) };
    }
    const bytes = await handle.readFile();
    // The decoder drops the byte order mark that some editors put first.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { text, stamp: stampOf(stat) };
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (error instanceof TypeError) {
      return { message: "is not UTF-8 text", fix: `write the ${what} as text` };
    }
    return { message: `cannot be read (${code ?? "unknown error"})`, fix: "make it readable" };
  }
}

/** Windows keeps no such bits: every file there looks readable by everyone. */
function readableByOthers(mode: number, bits: number): boolean {
  return process.platform !== "win32" && (mode & bits) !== 0;
}

/** The command as it can be pasted into a shell. */
function chmodOf(path: string): string {
  return `chmod 600 ${shellWord(path)}`;
}
