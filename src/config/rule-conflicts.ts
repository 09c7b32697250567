/** What no key of a rule can say alone. */
import { resolve } from "node:path";
import { METADATA_FIELDS } from "../domain/attributes.ts";
import { groupNames } from "../rules/pattern.ts";
import { groupsIn, type Template } from "../rules/template.ts";
import { isWithin, type Layout } from "./layout.ts";
import { quoted } from "./quoted.ts";
import type { ConfigProblems, KeyPath } from "./config-problems.ts";
import type { Sketch } from "./file-schema.ts";

type MirrorSketch = NonNullable<NonNullable<Sketch["mirrors"]>[number]>;

/** Reports templates that name a group which no pattern has, and rules of one name. */
export function reportRules(
  { mirrors = [] }: Sketch,
  layout: Layout,
  findings: ConfigProblems,
): void {
  for (const [at, mirror] of mirrors.entries()) {
    if (mirror) reportMirror(mirror, ["mirrors", at], findings);
    const key = ["mirrors", at, "hooks", "before", "afterVeto"];
    reportAfterAction(mirror?.hooks?.before?.afterVeto, key, layout, findings);
  }
}

/** What was moved away must not be found, and sent, again. */
function reportAfterAction(
  after: MirrorSketch["after"],
  key: KeyPath,
  layout: Layout,
  findings: ConfigProblems,
) {
  if (after?.kind !== "move" || after.to === undefined) return;
  const to = resolve(layout.folder, after.to);
  const other = layout.mirrors.findIndex(
    ({ source }) => source !== undefined && isWithin(source, to),
  );
  if (other < 0) return;
  const message = `${quoted(to)} lies in the source of mirrors[${other}], which would send it again`;
  findings.report(key, message, "move to a folder outside of it");
}

function reportMirror(mirror: MirrorSketch, key: KeyPath, findings: ConfigProblems): void {
  const { match, target, metadata, rules = [] } = mirror;
  const own = match === undefined ? [] : groupNames(match);
  const inRules = rules.flatMap((rule) =>
    rule?.match === undefined ? [] : groupNames(rule.match),
  );
  // A group of a rule's pattern serves the mirror's templates wherever that rule matches.
  reportGroups({ target, metadata }, [...own, ...inRules], key, findings);
  const names = new Set<string>();
  for (const [at, rule] of rules.entries()) {
    if (!rule) continue;
    const ruleKey = [...key, "rules", at];
    if (rule.name !== undefined && names.has(rule.name)) {
      findings.report([...ruleKey, "name"], "is the name of another rule", "give it its own");
    }
    names.add(rule.name ?? "");
    const groups = rule.match === undefined ? [] : groupNames(rule.match);
    reportGroups(rule, [...own, ...groups], ruleKey, findings);
  }
}

type Templates = {
  readonly target?: Template | undefined;
  readonly metadata?: MirrorSketch["metadata"];
};

function reportGroups(
  { target, metadata }: Templates,
  known: readonly string[],
  key: KeyPath,
  findings: ConfigProblems,
): void {
  const places = [
    [[...key, "target"], target],
    ...METADATA_FIELDS.map((field) => [[...key, "metadata", field], metadata?.[field]] as const),
  ] as const;
  for (const [place, template] of places) {
    const missing = template && groupsIn(template).find((name) => !known.includes(name));
    if (missing === undefined) continue;
    const has = known.length === 0 ? "no pattern has a group" : `groups: ${known.join(", ")}`;
    findings.report(
      place,
      `no pattern has a group named ${missing}; ${has}`,
      `write (?<${missing}>…) in match`,
    );
  }
}
