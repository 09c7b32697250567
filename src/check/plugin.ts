import type { Config, Mirror } from "../config/config.ts";
import { failureOf } from "../domain/failure.ts";
import type { ExpiryRule } from "../rules/rules.ts";
import { readJournal } from "../journal/open-journal.ts";
import { type CheckResult, ok, warn } from "./check-result.ts";

const CODE = "PLUGIN_REMINDER_NOT_INSTALLED";

/**
 * Expiry dates need a plugin of the account, which no question of the interface shows: only an
 * upload does. So this says what is known from those that were tried.
 */
export async function* examinePlugin(config: Config): AsyncGenerator<CheckResult> {
  const dated = config.mirrors.filter(setsExpiry).map(({ name }) => name);
  if (dated.length === 0) return;
  await using journal = await readJournal(config).catch(() => undefined);
  const [refused] = (await journal?.heldWith([CODE], 1)) ?? [];
  const what = `${dated.join(", ")} set${dated.length > 1 ? "" : "s"} expiry dates`;
  if (refused) yield warn(`${what}, but the account has no reminder plugin`, failureOf(CODE).hint);
  else yield ok(`${what}; the first document shows whether the account has the reminder plugin`);
}

function setsExpiry({ rules: { expiry, rules } }: Mirror): boolean {
  const all = [expiry, ...rules.flatMap((rule) => rule.expiry ?? [])];
  const isSet = ({ after, from }: ExpiryRule) =>
    (after !== null && after !== "never") || from.kind === "sidecar";
  return all.some(isSet);
}
