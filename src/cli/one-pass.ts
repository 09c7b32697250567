import type { Daemon } from "../daemon/daemon.ts";
import type { IdleWait } from "../daemon/idle.ts";
import { type Standing, standingOf } from "../report/standing.ts";
import { Interrupted } from "./exit.ts";
import type { StatusReport } from "../report/status.ts";

/** What the end of a pass has left: from here on nobody tries it again, which needs no word of its own. */
export async function passOf(
  { journal }: Pick<Daemon, "journal">,
  report: StatusReport,
): Promise<Standing> {
  const left = await standingOf(journal, { ...report, running: false });
  return { ...left, findings: left.findings.filter(({ kind }) => kind !== "notRunning") };
}

/**
 * Runs the daemon until nothing is left that continues automatically, and lets it end. Rejects with the
 * daemon's own failure, with what keeps the pass from ever being over, or with `Interrupted`.
 */
export async function onePass(
  daemon: Daemon,
  wanted: IdleWait,
  stopping: AbortSignal,
): Promise<StatusReport> {
  const over = new AbortController();
  const signal = AbortSignal.any([stopping, over.signal]);
  const running = daemon.run(signal);
  const ended = running.then((): never => {
    throw new Interrupted("stopped before everything was done; the next run continues");
  });
  const quiet = daemon.idle(wanted, signal);
  quiet.catch(() => {});
  ended.catch(() => {});
  try {
    // Stopping ends both; that it was stopped is what counts then.
    return await Promise.race([
      quiet.catch((error) => (stopping.aborted ? ended : Promise.reject(error))),
      ended,
      replaced(daemon),
    ]);
  } finally {
    over.abort(new Error("the pass is over"));
    await running;
  }
}

/** A daemon that is lost ends on its own. */
async function replaced({ startOver }: Daemon): Promise<never> {
  if ((await startOver) === "lost") return new Promise(() => {});
  throw new Interrupted("an archive was replaced during the run; run the command again");
}
