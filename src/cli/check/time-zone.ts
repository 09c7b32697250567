import { TIME_ZONE_HINT, timeZoneProblem } from "../../std/time-zone.ts";
import type { Shell } from "../shell.ts";
import { type CheckResult, warn } from "./check-result.ts";

/** Do hours and schedules go by the time zone that is meant? */
export function* examineTimeZone({ processContext, clock }: Shell): Generator<CheckResult> {
  const problem = timeZoneProblem(processContext.env, clock.now());
  if (problem !== undefined) yield warn(`time zone: ${problem}`, TIME_ZONE_HINT);
}
