/** A mirror that was taken out of the configuration keeps its rows, and is nobody's problem. */
import { expect, test } from "vitest";
import { metricsText, RunningSums } from "../../../src/dashboard/metrics.ts";
import { findingsOf } from "../../../src/report/findings.ts";
import { configuredIds, configuredRows, problemsOf } from "../../../src/report/problems.ts";
import { Desk, events, NOW } from "../../contract/journal-desk.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";
import { aWorld } from "../../fixtures/world.ts";
import { noDocuments, statusOf } from "../../../src/report/status.ts";

const HEALTH = { healthy: true, ready: true, why: "ok" };

/** One mirror in use, without a document, and one that was taken out while its documents waited. */
async function aJournal(): Promise<{ journal: MemoryJournal; used: number }> {
  const journal = new MemoryJournal();
  const { mirrorId: used } = await Desk.at(journal);
  const gone = new Desk(journal, (await journal.mirror("gone", "/srv/gone")).id);
  await gone.held("waits.pdf", "FOLDER_MISSING");
  const { id } = await gone.add("ready.pdf");
  await gone.after(id, events.settled());
  return { journal, used };
}

test("one finding names it, with what nobody works on any more", async () => {
  const { journal } = await aJournal();
  await using world = await aWorld();
  const config = world.config();
  const report = await statusOf(journal, config, true, NOW);
  const documents = { ...noDocuments(), held: 1, pending: 1 };
  expect(report.formerMirrors).toEqual([{ name: "gone", source: "/srv/gone", documents }]);
  expect(report.documents).toEqual(noDocuments());
  expect(findingsOf({ report, problems: [] })).toMatchObject([
    { kind: "formerMirror", detail: "Its documents wait: 1 pending, 1 held." },
  ]);
  // Under another name it is the same mirror, by its source, before a daemon starts, too.
  const [mirror] = config.mirrors;
  if (!mirror) throw new Error("there is one");
  const mirrors = [mirror, { ...mirror, name: "renamed", source: "/srv/gone" }];
  const renamed = await statusOf(journal, { ...config, mirrors }, false, NOW);
  expect(renamed).toMatchObject({ formerMirrors: [], documents });
  expect(renamed.mirrors[1]).toMatchObject({ name: "renamed", documents });
  expect(await problemsOf(journal, { mirrors })).toMatchObject([
    { code: "FOLDER_MISSING", first: { mirror: "renamed" } },
  ]);
  // One that goes into another archive is another mirror.
  const elsewhere = mirrors.map((each) => ({ ...each, archive: "legal" }));
  expect(await configuredRows(journal, elsewhere)).toEqual(await journal.mirrors());
});

test("its folders, its reasons and its waiting are told nowhere else", async () => {
  const { journal, used } = await aJournal();
  await using world = await aWorld();
  const config = world.config();
  expect([...(await configuredIds(journal, config))]).toEqual([used]);
  const report = await statusOf(journal, config, true, NOW);
  expect(report.foldersToCreate).toEqual([]);
  expect(await problemsOf(journal, config)).toEqual([]);
  const text = await metricsText({
    journal,
    clock: new ManualClock(NOW + 3_600_000),
    ever: new RunningSums(journal),
    month: new RunningSums(journal),
    snapshot: async () => ({
      ...report,
      version: "1",
      at: NOW,
      health: HEALTH,
      signsIn: false,
      inspects: false,
      findings: [],
    }),
    channels: () => [],
  });
  expect(text).toMatch(/^scanferry_folders_to_create 0$/m);
  expect(text).toMatch(/^scanferry_oldest_pending_age_seconds 0$/m);
});

test("once it is back, all of that is told again", async () => {
  const { journal } = await aJournal();
  await using world = await aWorld();
  const config = world.config({}, { name: "gone" });
  const report = await statusOf(journal, config, true, NOW);
  expect(report.foldersToCreate).toMatchObject([{ mirror: "gone", documents: 1 }]);
  expect(await problemsOf(journal, config)).toMatchObject([{ code: "FOLDER_MISSING" }]);
});
