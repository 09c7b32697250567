import type { PostgresPlace } from "../network/journal-place.ts";
import { lookAt } from "../journal/postgres/look.ts";
import type { Clock } from "../std/clock.ts";
import { type CheckResult, ok, warn } from "./check-result.ts";

/** More than this between the clocks is worth a look: reports and schedules go by them. */
const OFFSET_MS_MAX = 2_000;

/** Every change of a document waits for the database a few times. */
const ANSWER_MS_MAX = 50;

/** Is the database one that a journal can be kept in, near enough, and does its clock go right? */
export async function* databaseFindings(
  place: PostgresPlace,
  clock: Clock,
): AsyncGenerator<CheckResult> {
  const look = await lookAt(place, clock);
  yield ok(`journal: PostgreSQL ${look.version}, schema ${place.schema}`);
  const answers = `journal: the database answers within ${look.answerMs.toFixed(1)} ms`;
  if (look.answerMs > ANSWER_MS_MAX) yield warn(answers, "Keep the database near the daemons.");
  else yield ok(answers);
  const ahead = Math.round(look.clockOffsetMs);
  const clocks = `journal: the database's clock is ${Math.abs(ahead)} ms ${ahead < 0 ? "behind" : "ahead of"} this host's`;
  if (Math.abs(ahead) > OFFSET_MS_MAX) yield warn(clocks, "Let NTP set both clocks.");
  else yield ok(clocks);
  for (const { setting, what } of look.unsafe) {
    yield warn(`journal: the database has ${setting}: ${what}`, "Set it on: postgresql.conf.");
  }
  if (place.hasPasswordInUrl) {
    const fix = "Move it to a file, and name that in journal.passwordFile.";
    yield warn("journal: the password is in the URL", fix);
  }
}
