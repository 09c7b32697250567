import { describe, expect, test } from "vitest";
import { assured, IdentityGuard } from "../../../src/sync/archive-identity.ts";
import { examine, remember } from "../../../src/sync/examine-archive.ts";
import { failed, refused, unreachable } from "../../fakes/scripted-archive.ts";
import { HOUR, MINUTE, never, SyncDesk } from "./desk.ts";
import { awayKey } from "../../../src/journal/cluster.ts";
import type { GateRow, PaceRow } from "../../../src/journal/journal.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";
import { aConfig, aMirror } from "../../fixtures/a-config.ts";
import { statusOf, type StatusReport } from "../../../src/report/status.ts";

/** Which archive it is: asked before anything else, at a constant cost, and never in the way of an odd one. */
describe("archive identity", () => {
  const ACCOUNT = { name: "main", url: "https://a", accountKey: "k", storedSize: "same" as const };

  /** A desk with documents that were sent, and what guards its archive. */
  async function aGuard({ sent = 20, isThere = true } = {}) {
    const desk = await SyncDesk.open();
    const { archive, journal, clock, context } = desk;
    await journal.archive(ACCOUNT.name, ACCOUNT.url);
    const folderId = archive.addFolder("Scans");
    for (let n = 0; n < sent; n++) {
      const filename = `${n}.pdf`;
      const uploadedDate = clock.now() + 7;
      const row = { folderId, documentId: 1_000 + n, archiveUploadedAt: uploadedDate };
      desk.put({ path: filename, state: "converted", sentName: filename, ...row });
      const there = { id: 1_000 + n, folderId, filename, uploadedDate, status: "CONVERTED" };
      if (isThere) archive.addDocument(there);
    }
    const asking = { archive, journal, account: ACCOUNT, upload: context.config.upload };
    const told: string[] = [];
    const replaced = () => told.push("replaced");
    const guarding = { clock, log: context.log, asks: true, replaced };
    const guard = new IdentityGuard(asking, guarding);
    return { desk, archive, journal, asking, guard, told, sure: assured(archive, guard) };
  }

  test("two requests, however much was sent; then none for a day", async () => {
    const { desk, archive, guard, sure } = await aGuard({ sent: 200 });
    for (let n = 0; n < 5; n++) await sure.folders({}, never);
    expect([archive.count("folder"), archive.count("document")]).toEqual([1, 1]);
    await desk.advance(25 * HOUR);
    await guard.assert(never);
    expect([archive.count("folder"), archive.count("document")]).toEqual([2, 2]);
  });

  test("another one by another address: nothing is asked of it but who it is, until a person has said", async () => {
    const { archive, journal, asking, guard, sure } = await aGuard({ isThere: false });
    await remember(journal, { url: "https://before", key: "x", rootCreatedAt: null }, false);
    const changed = { kind: "notSent", code: "ARCHIVE_CHANGED" };
    await expect(sure.documents({}, never)).rejects.toMatchObject(changed);
    await expect(sure.document(7, never)).rejects.toMatchObject(changed);
    expect(guard.standing).toMatchObject({ code: "ARCHIVE_CHANGED" });
    expect(archive.count("documents")).toBe(0);
    expect(archive.count("document"), "a few that are known").toBeLessThanOrEqual(5);
    const asked = archive.forgetAsked();
    await expect(guard.assert(never)).rejects.toMatchObject(changed);
    expect([asked > 0, archive.count()], "not with each question").toEqual([true, 0]);
    await remember(journal, (await examine(asking, 0, never)).now, true);
    await guard.reread();
    await expect(sure.documents({}, never)).resolves.toMatchObject({ documents: [] });
  });

  test("replaced by a person: the loops begin again", async () => {
    const { journal, guard, told } = await aGuard();
    await guard.reread();
    expect(told).toEqual([]);
    await journal.retireArchive(1, " until then");
    await guard.reread();
    expect(told).toEqual(["replaced"]);
  });

  test("one that cannot be reached is asked again, and one that cannot say who it is goes on", async () => {
    const { archive, guard } = await aGuard();
    archive.fail("folder", unreachable());
    await expect(guard.assert(never)).rejects.toMatchObject({ code: "ARCHIVE_UNREACHABLE" });
    expect(guard.standing).toBe("failed");
    archive.fail("folder", failed(), failed(), failed());
    archive.fail("document", failed(), failed(), failed(), failed(), failed());
    for (let n = 0; n < 2; n++)
      await expect(guard.assert(never)).rejects.toMatchObject({ kind: "inDoubt" });
    await guard.assert(never);
    expect(guard.standing).toBe("same");
  });

  test("one without folder information, whose documents people have moved and renamed, goes on", async () => {
    const { desk, archive, guard } = await aGuard();
    for (let n = 0; n < 20; n++) archive.change(1_000 + n, { filename: "x.pdf", folderId: 9 });
    archive.fail("folder", refused("FOLDER_NOT_EXISTS"));
    await guard.assert(never);
    expect(guard.standing).toBe("same");
    await desk.advance(MINUTE);
    await guard.assert(never);
    expect(archive.count("folder")).toBe(1);
  });
});

/** The report of several archives: each on its own, and for who looks at one figure the worst. */
describe("status archives", () => {
  const NOW = 1_700_000_000_000;

  /** A gate that was closed at this second. */
  const shut = (second: number, code = "QUOTA_LIMIT"): GateRow => ({
    closedAt: NOW + second * 1_000,
    problem: { code, message: "no" },
    probes: 1,
    nextProbeAt: NOW + second * 1_000 + 9,
  });

  const asked: PaceRow = { limit: 1, pausedAt: NOW - 9, pausedUntil: NOW + 9_000, problem: null };

  type Standing = { gate?: GateRow; pace?: PaceRow };

  const CONFIG = aConfig();

  async function reportOf(...standings: Standing[]): Promise<StatusReport> {
    const journal = new MemoryJournal();
    const archives: { name: string; url: string }[] = [];
    for (const [index, { gate, pace }] of standings.entries()) {
      const name = index === 0 ? "main" : `other-${index}`;
      const own = journal.of((await journal.archive(name, "https://a")).id);
      archives.push({ name, url: "https://a" });
      if (gate) await own.setGate(gate);
      if (pace) await own.setPace(pace);
    }
    const [archive = { name: "main", url: "" }, ...furtherArchives] = archives;
    const mirrors = archives.map(({ name }) => aMirror({ name, archive: name }));
    return statusOf(journal, { ...CONFIG, archive, furtherArchives, mirrors }, true, NOW);
  }

  test.for([
    [[{}, {}], null, null, "both are open"],
    [[{}, { gate: shut(5) }], 5, "QUOTA_LIMIT", "one is closed, and it is told"],
    [[{ gate: shut(7) }, { gate: shut(5) }], 5, "QUOTA_LIMIT", "the longest"],
    [[{ gate: shut(1, "CREDENTIALS_REFUSED") }, {}], null, "CREDENTIALS_REFUSED", "no quota"],
    [
      [{ gate: shut(1, "CREDENTIALS_REFUSED") }, { gate: shut(5) }],
      5,
      "CREDENTIALS_REFUSED",
      "each figure for itself",
    ],
  ] as const)("%#: quota spent since %s s, gate %s: %s", async ([standings, second, code]) => {
    const report = await reportOf(...standings);
    const since = second === null ? null : NOW + second * 1_000;
    expect(report.quota.blockedSince).toBe(since);
    expect(report.gate?.code ?? null).toBe(code);
    expect(report.archives.map(({ gate }) => gate?.closedAt ?? null)).toEqual(
      standings.map((standing: Standing) => standing.gate?.closedAt ?? null),
    );
  });

  test("a mirror is offline where that was noted, whatever it is called", async () => {
    const journal = new MemoryJournal();
    const key = awayKey((await journal.archive("main", "https://a")).id, "");
    const sources = { scans: { offline: { since: NOW, why: "not mounted" } } };
    const instance = journal.cluster.instanceId;
    await journal.setKeyValue(key, JSON.stringify({ instance, archive: null, sources }));
    const mirrors = ["scans", "constructor"].map((name) => aMirror({ name, archive: "main" }));
    const report = await statusOf(journal, { ...CONFIG, mirrors }, true, NOW);
    expect(report.mirrors.map(({ offline }) => offline)).toEqual([sources.scans.offline, null]);
  });

  test.for([
    [[{ pace: asked }], "asked", 1, "the only one waits"],
    [[{ pace: asked }, {}], undefined, 5, "the other goes on"],
    [[{ pace: asked }, { pace: asked }], "asked", 2, "all of them wait"],
  ] as const)("%#: waits %s, %i uploads at a time: %s", async ([standings, why, concurrency]) => {
    const { sending, archives } = await reportOf(...standings);
    expect(sending.waits?.why).toBe(why);
    expect(sending.concurrency).toBe(concurrency);
    expect(archives[0]?.sending).toMatchObject({ waits: { why: "asked" }, concurrency: 1 });
  });

  test("of an archive that the journal does not know yet, nothing is known", async () => {
    const journal = new MemoryJournal();
    await journal.setGate(shut(1));
    const config = { ...CONFIG, archive: { name: "new", url: "https://b" }, mirrors: [] };
    const { archives, gate } = await statusOf(journal, config, false, NOW);
    expect(gate).toBeNull();
    expect(archives).toMatchObject([{ name: "new", gate: null, sending: { concurrency: 4 } }]);
  });
});
