/** What can be wrong with a file or its source, told apart by what to do about it. */
import { type BigIntStats, readFileSync } from "node:fs";
import type { Problem } from "../domain/document.ts";
import { failureOf } from "../domain/failure.ts";
import { codeOf, Fault, messageOf } from "../std/fault.ts";
import { type RawPath, shown } from "../std/raw-path.ts";

/** The file is not there any more. */
export class FileGone extends Fault {
  constructor(path: RawPath, options?: ErrorOptions) {
    super("FILE_GONE", `${shown(path)} is gone`, "Nothing needs to be done.", options);
  }
}

/** The file is not, or did not stay, as it was when it was last looked at. */
export class FileChanged extends Fault {
  constructor(path: RawPath, how: string) {
    super("FILE_CHANGED", `${shown(path)} ${how}`, failureOf("FILE_CHANGED").hint);
  }
}

/** The file is there and cannot be read; `message` has the system's code, owner and mode. */
export class FileUnreadable extends Fault {
  constructor(message: string, options?: ErrorOptions) {
    super("FILE_UNREADABLE", message, failureOf("FILE_UNREADABLE").hint, options);
  }
}

/** The source cannot be trusted to show what it holds: what is missing may only be out of sight. */
export class SourceOffline extends Fault {
  constructor(message: string, options?: ErrorOptions) {
    super("SOURCE_OFFLINE", message, failureOf("SOURCE_OFFLINE").hint, options);
  }
}

/** The name stands for a link, a directory, a pipe, a socket or a device. */
export class NotRegular extends Fault {
  constructor(path: RawPath, kind: string) {
    super(
      "NOT_REGULAR",
      `${shown(path)} is ${kind}`,
      "Only regular files are sent; put the file itself there instead.",
    );
  }
}

/**
 * `ENOTDIR`: a directory on the way is now a file, or a link, which is not followed. `ENAMETOOLONG`: next to a file
 * with a long name, none with a longer one can be.
 */
export const GONE: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG"]);

/** What a share answers whose server, or whose FUSE process, has gone away, and a disk that dies. */
const OFFLINE: ReadonlySet<string> = new Set(
  (
    "ENOTCONN ESTALE EHOSTDOWN EHOSTUNREACH ENETDOWN ENETUNREACH ETIMEDOUT " +
    "ECONNABORTED ECONNREFUSED ECONNRESET EIO ENODEV EREMOTEIO ESHUTDOWN"
  ).split(" "),
);

/** The fault a system error means for `path`; a fault stays what it is, a bug is thrown on. */
export function fileFault(error: unknown, path: RawPath, stat?: BigIntStats): Fault {
  if (error instanceof Fault) return error;
  if (!isSystemError(error)) throw error;
  const code = codeOf(error) ?? "";
  if (GONE.has(code)) return new FileGone(path, { cause: error });
  const message = `${systemText(error)}${stat && (code === "EACCES" || code === "EPERM") ? ` (${rightsText(stat)})` : ""}`;
  if (OFFLINE.has(code)) return new SourceOffline(message, { cause: error });
  return new FileUnreadable(message, { cause: error });
}

/** True for what a call of the operating system answered. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && codeOf(error) !== undefined;
}

/** What became of a look at a file, in the words a document keeps. */
export function problemOf(fault: Fault): Problem {
  return { code: fault.code, message: fault.message };
}

/** `EACCES: permission denied`, without the call and the path that Node adds. */
export function systemText(error: unknown): string {
  return messageOf(error).split(", ")[0] ?? "";
}

/** Whose right is missing: who this process is, and who owns the file or folder, by their names. */
function rightsText({ mode, uid, gid }: BigIntStats): string {
  const owner = nameIn("/etc/passwd", uid);
  const group = nameIn("/etc/group", gid);
  const reader = nameIn("/etc/passwd", process.geteuid?.() ?? "?");
  const bits = (mode & 0o7777n).toString(8).padStart(4, "0");
  return `the user ${reader} may not read it: owner ${owner}, group ${group}, mode ${bits}`;
}

/** The name of a user or group; its number where that file does not have it. */
function nameIn(file: string, id: bigint | number | string): string {
  try {
    const lines = readFileSync(file, "utf8").split("\n");
    return lines.find((line) => line.split(":")[2] === `${id}`)?.split(":")[0] ?? `${id}`;
  } catch {
    return `${id}`;
  }
}
