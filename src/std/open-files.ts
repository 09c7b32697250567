/** How many files this process may have open (`ulimit -n`), and the fault of too few. */
import { readdirSync, readFileSync } from "node:fs";
import { codeOf, Fault } from "./fault.ts";

/** A daemon at rest has 30 open, 6 more for each reader, one for each caller of its page and each channel. */
export const OPEN_FILES_MIN = 128;

/** What hosts give as a rule; with less, the 200 connections of a page are too many. */
export const OPEN_FILES_USUAL = 1_024;

export const OPEN_FILES_HINT =
  "Allow 1024 or more: `ulimit -n`, in a systemd unit `LimitNOFILE=`, in compose `ulimits: { nofile: 65536 }`.";

/** Less than this is left: the next that is opened, and what belongs to it, may not be had. */
const SPARE = 8;

/** Undefined where it is not limited, or not known. Node has raised it to what the host allows at most. */
export function openFilesMax(): number | undefined {
  try {
    const [, max] =
      /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return max === undefined ? undefined : Number(max);
  } catch {
    return undefined;
  }
}

/** Throws `FILES_EXHAUSTED` where a daemon, or what starts a reader, could not work. */
export function assertOpenFiles(max = openFilesMax()): void {
  if (max !== undefined && max < OPEN_FILES_MIN) throw openFilesFault(fewText(max));
}

/** What is said of a limit that is too low. */
export function fewText(max: number): string {
  const least =
    max < OPEN_FILES_MIN ? `${OPEN_FILES_MIN} are needed` : `${OPEN_FILES_USUAL} are advised`;
  return `the limit of open files is ${max}, ${least}`;
}

/** The fault that an error of the system is which says that too many are open; undefined: it says something else. */
export function exhaustion(error: unknown): Fault | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = [codeOf(error), codeOf(cause)].find(
    (each) => each === "EMFILE" || each === "ENFILE",
  );
  if (code === undefined) return undefined;
  const where =
    code === "ENFILE" ? "on this host" : `in this process, ${openFilesMax() ?? "so many"} may be`;
  return openFilesFault(`too many files are open ${where} (${code})`, error);
}

/** The same where an error says nothing of its cause: next to none can be opened any more. */
export function exhaustionNow(cause: unknown): Fault | undefined {
  const max = openFilesMax();
  if (max === undefined || openNow() < max - SPARE) return undefined;
  return openFilesFault(`too many files are open in this process, ${max} may be`, cause);
}

function openNow(): number {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch (error) {
    return codeOf(error) === "EMFILE" ? Number.POSITIVE_INFINITY : 0;
  }
}

function openFilesFault(what: string, cause?: unknown): Fault {
  return new Fault("FILES_EXHAUSTED", what, OPEN_FILES_HINT, { cause });
}
