/** Tells people that the journal cannot be used, which it cannot keep itself. */
import { hostname } from "node:os";
import type { NotifyConfig } from "../config/notify-section.ts";
import { Alarm } from "../notify/alarm.ts";
import { unlessEnded } from "../std/abort.ts";
import { type Clock, systemRandom } from "../std/clock.ts";
import type { Fault } from "../std/fault.ts";
import type { Log } from "../std/log.ts";
import { version } from "./version.ts";

/** How often it is looked whether people are to be told. */
const LOOK_MS = 5_000;

/** What there is at one moment; `config` is undefined where nobody is to be told. */
export type AlarmSight = {
  readonly config: NotifyConfig | undefined;
  readonly fault: Fault | undefined;
  readonly log: Log;
};

/** Looks from time to time, until `signal` aborts. */
export async function soundAlarm(
  clock: Clock,
  sight: () => AlarmSight,
  signal: AbortSignal,
): Promise<void> {
  const sender = { host: hostname(), version };
  using alarm = new Alarm({ sender, clock, random: systemRandom });
  while (!signal.aborted) {
    await unlessEnded(clock.sleep(LOOK_MS, signal), signal);
    const { config, fault, log } = sight();
    if (config && !signal.aborted) alarm.look(config, fault, log);
  }
}
