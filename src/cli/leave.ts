/** The end of the process, which nothing that is still open must keep from ending. */
import { aborted } from "../std/abort.ts";
import { systemClock } from "../std/clock.ts";
import type { ExitCode } from "./exit.ts";

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
