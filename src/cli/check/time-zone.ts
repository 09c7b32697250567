import { TIME_ZONE_HINT, timeZoneTrouble } from "../../std/time-zone.ts";
import type { Shell } from "../shell.ts";
import { type Finding, warn } from "./finding.ts";

/** Do hours and schedules go by the time zone that is meant? */
export function* examineTimeZone({ surroundings, clock }: Shell): Generator<Finding> {
  const trouble = timeZoneTrouble(surroundings.env, clock.now());
  if (trouble !== undefined) yield warn(`time zone: ${trouble}`, TIME_ZONE_HINT);
}
