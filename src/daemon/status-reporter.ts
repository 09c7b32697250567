/**
 * Keeps the service manager informed: one line of what goes on, and a ping for its watchdog. The
 * ping is no mere timer: it is sent after the journal has answered, and only while the loops turn.
 */
import { isAbortOf } from "../std/abort.ts";
import type { Clock } from "../std/clock.ts";
import { messageOf } from "../std/fault.ts";
import type { Notifier } from "./notifier.ts";

/** How things are. */
export type ServiceStatus = {
  readonly line: string;
  /** Why the watchdog is to fire; undefined while all is well. */
  readonly stuck: string | undefined;
};

/** Where the notifier has no `watchdogMs`, the line is sent and nothing else. */
export type StatusReporterOptions = {
  readonly notifier: Notifier;
  readonly clock: Clock;
  /** Asked for every few seconds. One that does not answer keeps the ping away. */
  readonly look: () => Promise<ServiceStatus>;
  /** Told what is wrong, once each. */
  readonly wrong: (what: string) => void;
};

/** How often the line is renewed, at most. */
const LINE_MS = 10_000;

/** Pings of which the manager's patience would bear to lose all but one. */
const PINGS = 3;

/** Watches until `signal` aborts, and resolves then; what does not answer is not waited for. */
export async function reportStatus(
  options: StatusReporterOptions,
  signal: AbortSignal,
): Promise<void> {
  const over = Promise.withResolvers<void>();
  const end = () => over.resolve();
  signal.addEventListener("abort", end, { once: true });
  try {
    await Promise.race([watch(options, signal), over.promise]);
  } catch (error) {
    if (!isAbortOf(signal, error)) throw error;
  } finally {
    signal.removeEventListener("abort", end);
  }
}

async function watch(options: StatusReporterOptions, signal: AbortSignal): Promise<never> {
  const { notifier, clock, look } = options;
  const { watchdogMs } = notifier;
  const pingMs = (watchdogMs ?? Number.POSITIVE_INFINITY) / PINGS;
  const everyMs = Math.min(LINE_MS, pingMs / 2);
  const wrong = once(options.wrong);
  let told = "";
  let pingAt = watchdogMs === undefined ? Number.POSITIVE_INFINITY : clock.monotonic();
  for (;;) {
    const { line, stuck } = await look().catch(unknown);
    signal.throwIfAborted();
    if (stuck !== undefined) wrong(stuck);
    const isPing = stuck === undefined && clock.monotonic() >= pingAt;
    if (isPing || line !== told) {
      const problem = await notifier.tell(...(isPing ? ["WATCHDOG=1"] : []), `STATUS=${line}`);
      if (problem !== undefined) wrong(`cannot notify the service manager: ${problem}`);
      told = line;
      if (isPing) pingAt = clock.monotonic() + pingMs;
    }
    await clock.sleep(everyMs, signal);
  }
}

/** A journal that cannot be asked ends the daemon on its own; until then nothing is known. */
function unknown(error: unknown): ServiceStatus {
  return { line: "not known", stuck: `where things stand is not known: ${messageOf(error)}` };
}

function once(wrong: (what: string) => void): (what: string) => void {
  const told = new Set<string>();
  return (what) => {
    // The numbers in it grow; that it is so is reported once.
    const kind = what.replaceAll(/\d+/g, "");
    if (!told.has(kind)) wrong(what);
    told.add(kind);
  };
}
