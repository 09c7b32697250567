/** The tests of rules that a configuration holds. */
import type { Config, Mirror } from "../../config/config.ts";
import { METADATA_FIELDS } from "../../domain/slip.ts";
import { dayOf, isoDay } from "../../rules/calendar.ts";
import type { Example } from "../../rules/rules.ts";
import { rawOfText } from "../../std/raw-path.ts";
import { trialOf } from "./trial.ts";

/** One of the tests that the configuration holds, and what is not as it says; nothing: it passes. */
export type ExampleResult = {
  readonly mirror: string;
  readonly path: string;
  readonly wrong: readonly string[];
};

/** Runs the examples of every mirror. `now`: epoch milliseconds, for those that name no time. */
export function exampleResults({ mirrors }: Pick<Config, "mirrors">, now: number): ExampleResult[] {
  return mirrors.flatMap((mirror) =>
    mirror.rules.examples.map((example) => ({
      mirror: mirror.name,
      path: example.path,
      wrong: wrongWith(mirror, example, now),
    })),
  );
}

function wrongWith(mirror: Mirror, example: Example, now: number): string[] {
  const trial = trialOf({
    mirror,
    facts: {
      mirror: mirror.name,
      path: rawOfText(example.path),
      modifiedAt: example.modifiedAt ?? now,
      at: example.sentAt ?? now,
      directories: [],
      sidecar: null,
    },
  });
  if (trial.error) return [`it would be held: ${trial.error.message}`];
  const expires = example.expires === undefined ? undefined : dayOf(example.expires);
  const compared = [
    ["rule", example.rule, trial.rule ?? "none"],
    ["folder", example.folder, trial.folder],
    ["sentName", example.name, trial.sentName],
    ["expires", expires ? isoDay(expires) : example.expires, trial.expires?.at ?? "never"],
    ...METADATA_FIELDS.map(
      (field) => [field, example.metadata[field], trial.metadata[field]?.value ?? ""] as const,
    ),
  ] as const;
  return compared.flatMap(([what, wanted, found]) =>
    wanted === undefined || wanted === found
      ? []
      : [`${what} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`],
  );
}
