/** What a table declares, every place that has to know it knows: the places that no type holds together. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { fileSchema, type Mirror } from "../../src/config/config.ts";
import { declaredSections } from "../../src/config/kind.ts";
import { sketchOf } from "../../src/config/load-config.ts";
import { ANYWAY_CODES } from "../../src/domain/code-sets.ts";
import { FAILURES } from "../../src/domain/failure.ts";
import { ARROWS } from "../../src/domain/life.ts";
import { ANYWAY } from "../../src/domain/settle.ts";
import { WEBHOOK_FORMATS } from "../../src/domain/webhook-format.ts";
import { absentIn, alertsOf } from "../../src/notify/alerts.ts";
import { FINDING_KINDS } from "../../src/report/finding.ts";
import { findingsOf } from "../../src/report/findings.ts";
import { decideAgain, isDecidedOtherwise } from "../../src/sync/decided-again.ts";
import { retryDoes, retryOf } from "../../src/sync/retry.ts";
import { SITUATIONS, aSituation, problem } from "./report/situations.ts";
import { SyncDesk } from "./sync/desk.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test("a hint names `retry --anyway` where that helps, and nowhere else", () => {
  const named = Object.entries(FAILURES).filter(([, { hint }]) => hint.includes("--anyway"));
  expect(named.map(([code]) => code)).toEqual(ANYWAY_CODES);
});

test.for(ANYWAY_CODES)(
  "%s is sent as it is if a person asks, as every place offers",
  async (code) => {
    const desk = await SyncDesk.open();
    const held = { problem: { code, message: "m" }, digest: null, dueAt: null } as const;
    const { id } = desk.put({ path: "a.pdf", state: "held", ...held });
    const row = await desk.row(id);
    expect(retryDoes(row)).toBe("queue");
    expect(retryOf(row, 1, true)).toMatchObject([{}, { type: "note", set: { remark: ANYWAY } }]);
    const [found] = findingsOf(aSituation({}, { problems: [problem("held", code)] }));
    expect(found?.actions).toContain("sendAnyway");
    // Asked for while it was looked at, it is looked at again.
    const event = { type: "heldBack", at: 5, dueAt: null, problem: held.problem } as const;
    const asked = { ...row, state: "settling", remark: ANYWAY } as const;
    expect(ARROWS.settling.heldBack?.(asked, event)).toMatchObject({ dueAt: 5 });
    expect(read("assets/dashboard/story.js"), "its button").toContain(`"${code}"`);
  },
);

/** Settings of a mirror that say when, how or how often; what is sent does not follow from them. */
const NOT_DECIDING: readonly string[] = (
  "source archive include exclude watch settleMs incompleteMs firstRun missingFolder changed " +
  "changesPerHour after"
).split(" ");

test("a setting of a mirror decides again what waits, or is known not to", async () => {
  const desk = await SyncDesk.open();
  await decideAgain(desk.context);
  const { settings } = desk.mirror();
  const missed: string[] = [];
  for (const key of Object.keys(settings) as (keyof Mirror)[]) {
    const other =
      key === "hooks"
        ? { before: { command: ["x"] } }
        : key === "rules"
          ? { ...settings.rules, limits: "other" }
          : "other";
    const changed = { ...settings, [key]: other } as Mirror;
    const isDeciding = await isDecidedOtherwise(desk.journal, 1, changed);
    if (isDeciding === NOT_DECIDING.includes(key)) missed.push(key);
  }
  expect(missed).toEqual([]);
});

/** Every key of the configuration with those above it, as pages name them: `journal.lease`, `mirrors.settle`. */
const KEYS = declaredSections(fileSchema).flatMap(({ schema, key }) =>
  Object.keys(schema.shape).map((name) => [...key, name].filter((part) => part !== 0).join(".")),
);

/** A name that an archive was given, and a file. */
const NO_KEYS = ["archives.legal", "archive.db"];

const PAGES = readdirSync(new URL("../../docs/", import.meta.url)).filter((page) =>
  page.endsWith(".md"),
);

test.for(PAGES)("each key that docs/%s names or shows is one of the configuration", (page) => {
  const text = read(`docs/${page}`);
  const sections = Object.keys(fileSchema.shape).join("|");
  const isOfSection = new RegExp(`^(?:${sections})\\.[\\w.]+$`);
  const examples = new RegExp(`^\`\`\`yaml\\n((?:${sections}):[^]*?)^\`\`\``, "gm");
  const named = [...text.matchAll(/`([\w.[\]]+)`/g)].map(([, key = ""]) =>
    key.replaceAll("[]", ""),
  );
  const keys = named.filter((key) => isOfSection.test(key) && !NO_KEYS.includes(key));
  expect(keys.filter((key) => !KEYS.includes(key))).toEqual([]);
  for (const [, yaml = ""] of text.matchAll(examples)) {
    const { findings } = sketchOf({ path: page, text: yaml, isWritten: true }, {});
    expect(() => findings.throwIfAny()).not.toThrow(/(unknown|removed) key/);
  }
});

test("docs/notify.md has an example of each service", () => {
  const page = read("docs/notify.md");
  const named = WEBHOOK_FORMATS.filter((format) => format !== "json");
  expect(named.filter((format) => !page.includes(`format: ${format},`))).toEqual([]);
});

test.for(FINDING_KINDS)("%s, if it is notified, has words for its end", (kind) => {
  const { report } = SITUATIONS[kind];
  const findings = findingsOf(SITUATIONS[kind]);
  const [alert] = alertsOf({ report, findings }, 0, 0);
  if (!alert) return;
  expect(alert.over).not.toMatch(/^Over: /);
  if (findings[0]?.mirror === null) return;
  // Of a mirror that was taken out, nothing is known to be over.
  const without = { ...report, mirrors: [] };
  const absent = absentIn({ report: without, findings: [], problems: [], unlooked: [] });
  expect(absent(alert.cause)).toBe("foreign");
});
