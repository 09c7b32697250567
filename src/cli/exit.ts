import { CommanderError } from "commander";
import { ArchiveError } from "../archive/archive-error.ts";
import { ConfigError } from "../config/config-problems.ts";
import { aborted, Stopping } from "../std/abort.ts";
import { Fault, messageOf, UsageError } from "../std/fault.ts";
import { exhaustion } from "../std/open-files.ts";
import { printable } from "../std/printable.ts";
import { clause } from "../std/wording.ts";
import { isUnusable } from "../check/check-result.ts";
import { systemClock } from "../std/clock.ts";

/**
 * How a command ends: its exit code, and the lines that say why. Every failure is one line on
 * stderr that names what happened and the fix.
 */

/** The exit codes of the outside contract. */
export const EXIT = {
  done: 0,
  fault: 1,
  /** Unusable arguments or configuration. */
  usage: 2,
  /** Done, but documents are held or failed. */
  unsettled: 3,
  /** Stopped by Ctrl-C before it was done; as for shells, 128 and the signal's number. */
  interrupted: 130,
  /** The same by SIGTERM. */
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command ended before it was done, with `code`. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly code: ExitCode;

  constructor(message: string, code: ExitCode = EXIT.fault) {
    super(message);
    this.code = code;
  }
}

/** What a command ends with. */
export type Ending = { readonly code: ExitCode; readonly lines: readonly string[] };

/** The exit code of a command that was stopped before it was done, and why. */
export function codeOfStop(stopped: unknown): ExitCode {
  const isTerm = stopped instanceof Stopping && stopped.signal === "SIGTERM";
  return isTerm ? EXIT.terminated : EXIT.interrupted;
}

/**
 * The ending that `error` makes; anything unexpected is a bug and says where it happened. `stopped` is
 * why the command was asked to stop: what fails after that ends with the signal's code.
 */
export function endingOf(error: unknown, stopped?: Error): Ending {
  if (stopped === undefined) return endingOfFailure(error);
  const code = codeOfStop(stopped);
  const isOwn = error === stopped || (error instanceof Error && error.cause === stopped);
  return isOwn ? ending(code, ["stopped before it was done"]) : { ...endingOfFailure(error), code };
}

function endingOfFailure(error: unknown): Ending {
  if (error instanceof CommanderError) return usageEnding(error);
  if (error instanceof ConfigError) return ending(EXIT.usage, error.lines());
  if (error instanceof UsageError) return ending(EXIT.usage, [error.message]);
  if (error instanceof Interrupted) return ending(error.code, [error.message]);
  if (error instanceof ArchiveError) return archiveEnding(error);
  if (error instanceof Fault) {
    return ending(isUnusable(error) ? EXIT.usage : EXIT.fault, [faultLine(error)]);
  }
  const exhausted = exhaustion(error);
  if (exhausted) return ending(EXIT.fault, [faultLine(exhausted)]);
  return ending(EXIT.fault, [`a bug in scanferry: ${messageOf(error)}${placeOf(error)}`]);
}

/** `MESSAGE; HINT`, with the hint as the end of a sentence. */
export function faultLine({ message, hint }: Pick<Fault, "message" | "hint">): string {
  return hint === "" ? message : `${message}; ${clause(hint)}`;
}

function ending(code: ExitCode, lines: readonly string[]): Ending {
  return { code, lines: lines.map((line) => `scanferry: ${printable(line)}`) };
}

function usageEnding(error: CommanderError): Ending {
  if (error.exitCode === 0) return { code: EXIT.done, lines: [] };
  const text = error.message.replace(/^error: /, "").replace(/\.$/, "");
  const message = text.replaceAll(/\s*\n\s*/g, " ");
  return ending(EXIT.usage, [`${message}; see --help`]);
}

function archiveEnding(error: ArchiveError): Ending {
  const line = faultLine(error);
  const coded = line.includes(error.code) ? line : `${error.code}: ${line}`;
  // Nothing was sent: what was asked for breaks the interface's rules.
  return ending(error.kind === "invalid" ? EXIT.usage : EXIT.fault, [coded]);
}

function placeOf(error: unknown): string {
  const [, frame] = error instanceof Error ? (error.stack ?? "").split("\n    at ") : [];
  return frame === undefined ? "" : ` (at ${frame.trim()})`;
}

/** The end of the process, which nothing that is still open must keep from ending. */

/** How long output, and calls to a file system, are waited for at the end. */
const PATIENCE_MS = 1_000;

/**
 * Ends the process with `code`. What it wrote goes out first, however slow its reader (`scanferry list
 * | less`); where `impatient` aborts, that is waited for no longer than a second: a daemon's supervisor
 * starts it again only once it has ended. It kills itself, and says so, where a file system hangs.
 */
export async function leave(code: ExitCode, impatient: AbortSignal): Promise<void> {
  const over = aborted(impatient).catch(() => sleep(PATIENCE_MS));
  await Promise.race([flushed(), over]);
  const why = "a file system does not answer, and the process cannot end";
  await exit(code, `scanferry: ${why}; everything else is done, so the process kills itself\n`);
}

/** Ends it whatever is under way, and whether or not all it wrote is out; for anyone who asks twice. */
export async function giveUp(code: ExitCode): Promise<void> {
  // Nothing is said: a file system that is merely busy cannot be told from one that hangs.
  await exit(code, "");
}

async function exit(code: ExitCode, lastWords: string): Promise<void> {
  // Most return in no time, and each command would take so much longer.
  for (let ms = 1; hasHangingCalls() && ms < PATIENCE_MS; ms *= 2) await sleep(ms);
  if (hasHangingCalls()) {
    process.stderr.write(lastWords);
    process.kill(process.pid, "SIGKILL");
  }
  process.exit(code);
}

function flushed(): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write("", () => process.stderr.write("", () => resolve()));
  });
}

/** `process.exit` waits for every call of a thread of the pool, even one that never returns. */
function hasHangingCalls(): boolean {
  return process
    .getActiveResourcesInfo()
    .some((name) => /^(?:FSReq|FileHandleCloseReq)/.test(name));
}

function sleep(ms: number): Promise<void> {
  return systemClock.sleep(ms, new AbortController().signal);
}
