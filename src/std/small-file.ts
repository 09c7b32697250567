/** Small files that people name, most of them with a secret in them, and who may read those. */
import type { BigIntStats } from "node:fs";
import { constants, open } from "node:fs/promises";
import { codeOf } from "./fault.ts";
import { shellWord } from "./wording.ts";

/** A file that was read, and what it was then: another stamp, another content. */
export type StampedFile = { readonly path: string; readonly stamp: string };

/** Tells a file from what was there before and after it, whether it was replaced or written to. */
export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(":");
}

/** What may be in a file, and who may read it. */
export type FileKind = {
  readonly what: string;
  readonly isSecret: boolean;
  readonly bytesMax: number;
};

/** Far larger than any secret: a larger file was named by mistake. */
export const SECRET: FileKind = { what: "secret", isSecret: true, bytesMax: 64 * 1024 };

/** Opening a named pipe would wait for its writer; this way it is opened, and refused. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

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

/** Whether one of `bits` is set. Windows keeps none: every file there looks readable by everyone. */
export function readableByOthers(mode: number, bits: number): boolean {
  return process.platform !== "win32" && (mode & bits) !== 0;
}

/** The command as it can be pasted into a shell. */
export function chmodOf(path: string): string {
  return `chmod 600 ${shellWord(path)}`;
}
