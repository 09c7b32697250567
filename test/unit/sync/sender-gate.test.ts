import { describe, expect, test } from "vitest";
import type { Outcome } from "../../../src/domain/outcome.ts";
import { Folders } from "../../../src/sync/folders.ts";
import { Held } from "../../../src/sync/held.ts";
import { Placement } from "../../../src/sync/placement.ts";
import { Probes } from "../../../src/sync/probes.ts";
import { Settler } from "../../../src/sync/settler.ts";
import { unauthorized, unreachable } from "../../fakes/scripted-archive.ts";
import { answers, aSender, oneAtATime, refusal, stalled, statesOf, stored } from "./a-sender.ts";
import { HOUR, MINUTE } from "./desk.ts";

const quota = { code: "QUOTA_LIMIT", message: "used up" };

describe("the gate", () => {
  test("closes for all at the first QUOTA_LIMIT; what was claimed is given back", async () => {
    const bench = await aSender();
    const { desk } = bench;
    const open = stalled(bench);
    for (let n = 0; n < 30; n++) desk.pending();
    await desk.run(bench.sender);
    open[0]?.end(refusal("QUOTA_LIMIT"));
    await desk.advance(0);
    expect(open).toHaveLength(4);
    for (const { end } of open.slice(1)) end(refusal("QUOTA_LIMIT"));
    await desk.advance(0);
    expect(statesOf(desk)).toEqual({ held: 30 });
    expect(bench.keeper.gate).toMatchObject({ probes: 0 });
    expect((await desk.row(30)).trouble?.code).toBe("QUOTA_LIMIT");
  });

  test("is probed by one document at a time, ever more rarely", async () => {
    const bench = await aSender();
    const { desk } = bench;
    for (let n = 0; n < 10; n++) desk.pending();
    answers(bench, refusal("QUOTA_LIMIT"));
    await desk.run(bench.sender);
    desk.reader.sent.splice(0);
    const probes = [];
    for (let quarter = 0; quarter < 8; quarter++) {
      await desk.advance(5 * MINUTE);
      probes.push(desk.reader.sent.splice(0).length);
    }
    expect(probes).toEqual([1, 0, 1, 0, 0, 0, 1, 0]);
  });

  test("lets everything go once a probe gets through", async () => {
    const bench = await aSender();
    const { desk } = bench;
    for (let n = 0; n < 10; n++) desk.pending();
    answers(bench, refusal("QUOTA_LIMIT"));
    await desk.run(bench.sender);
    let documentId = 100;
    answers(bench, () => stored(documentId++));
    await desk.advance(5 * MINUTE);
    expect(statesOf(desk)).toEqual({ uploaded: 10 });
  });

  test("closed by credentials it is probed by a question, not by a document", async () => {
    const bench = await aSender();
    const { desk } = bench;
    desk.pending();
    desk.archive.fail("folder", unauthorized());
    await desk.run(bench.sender);
    expect(statesOf(desk)).toEqual({ held: 1 });
    await desk.advance(5 * MINUTE);
    expect(desk.reader.sent).toHaveLength(1);
    expect(statesOf(desk)).toEqual({ uploaded: 1 });
  });

  test("closed by three documents in a row that met an unknown code", async () => {
    const bench = await aSender({ config: { upload: oneAtATime() } });
    const { desk } = bench;
    for (let n = 0; n < 10; n++) desk.pending();
    answers(bench, refusal("ODD_CODE"));
    await desk.run(bench.sender);
    expect(desk.reader.sent).toHaveLength(3);
    expect(bench.keeper.gate.trouble?.code).toBe("SAME_CODE_REPEATS");
    expect(statesOf(desk)).toEqual({ held: 10 });
  });

  test("behind it nothing is probed while paused", async () => {
    const bench = await aSender();
    const { desk, sender } = bench;
    desk.pending();
    await bench.keeper.refused(quota, false);
    await desk.journal.setPaused(true);
    await sender.reread();
    await desk.run(sender);
    await desk.advance(HOUR);
    expect(desk.reader.sent).toEqual([]);
    expect(statesOf(desk)).toEqual({ held: 1 });
  });

  test("a probe whose folder is missing answers nothing; the next one goes in its place", async () => {
    const bench = await aSender();
    const { desk } = bench;
    const small = { seen: { sizeBytes: 1, modifiedAt: 0, stamp: "a" } };
    desk.pending({ ...small, targetPath: "/Nowhere" });
    const other = desk.pending();
    await bench.keeper.refused(quota, false);
    await desk.run(bench.sender);
    await desk.advance(5 * MINUTE);
    expect(desk.reader.sent).toHaveLength(1);
    expect((await desk.row(other)).state).toBe("uploaded");
  });

  test("a probe that waits for another of its name, which only a person can tell, keeps no other", async () => {
    const bench = await aSender();
    const { desk, folderId } = bench;
    const trouble = { code: "DOUBT_AMBIGUOUS", message: "so" };
    const named = { sentName: "scan.pdf" };
    desk.put({
      state: "held",
      doubtAt: 1,
      dueAt: null,
      documentId: null,
      folderId,
      trouble,
      ...named,
    });
    const small = { sizeBytes: 1, modifiedAt: 0, stamp: "a" };
    const behind = desk.pending({ seen: small, ...named });
    const other = desk.pending();
    await bench.keeper.refused(quota, false);
    await desk.run(bench.sender);
    await desk.advance(5 * MINUTE);
    expect((await desk.row(other)).state).toBe("uploaded");
    expect((await desk.row(behind)).state).toBe("pending");
    expect(bench.keeper.gate.closedAt).toBeNull();
  });

  test("an archive that cannot be asked for a folder ends the probe: no other is tried", async () => {
    const bench = await aSender();
    const { desk } = bench;
    desk.pending();
    desk.pending();
    await bench.keeper.refused(quota, false);
    await desk.run(bench.sender);
    desk.archive.fail("folders", unreachable());
    await desk.advance(5 * MINUTE);
    expect(desk.reader.sent).toEqual([]);
    expect(statesOf(desk)).toEqual({ held: 2 });
  });
});

describe("a small document that cannot be sent", () => {
  const small = { sizeBytes: 10, modifiedAt: 0, stamp: "a" };
  const unreadable = (code: string): Outcome => ({
    kind: "unreadable",
    trouble: { code, message: "EACCES" },
  });
  const changed: Outcome = { kind: "changed", seen: small };

  /** Five of them among twenty good ones; the allowance is spent until a test says otherwise. */
  async function aSpentAccount(outcome: Outcome) {
    const bench = await aSender();
    const { desk } = bench;
    const account = { isSpent: true, documentId: 100 };
    const bad = [1, 2, 3, 4, 5].map((n) => desk.pending({ path: `bad-${n}.txt`, seen: small }));
    const good = Array.from({ length: 20 }, (_, n) => desk.pending({ path: `good-${n}.pdf` }));
    answers(bench, ({ filename }) => {
      if (filename.startsWith("bad")) return outcome;
      return account.isSpent ? refusal("QUOTA_LIMIT") : stored(account.documentId++);
    });
    await bench.keeper.refused(quota, false);
    for (const { name, seen, digest } of [...bad, ...good]) {
      desk.reader.files.set(name, { seen, digest: digest ?? "" });
    }
    const folders = new Folders(desk.archive);
    const held = new Held(desk.context, folders, new Placement(folders));
    await desk.run(bench.sender, held, new Settler(desk.context));
    const sent = () => desk.reader.sent.filter(({ filename }) => filename.startsWith("bad")).length;
    const uploaded = async () => {
      const rows = await Promise.all(good.map((row) => desk.row(row)));
      return rows.filter(({ state }) => state === "uploaded").length;
    };
    return { bench, desk, account, bad, sent, uploaded };
  }

  test.for([
    ["FILE_TYPE_NOT_ALLOWED", refusal("FILE_TYPE_NOT_ALLOWED")],
    ["HTTP_415", refusal("HTTP_415")],
    ["PLUGIN_REMINDER_NOT_INSTALLED", refusal("PLUGIN_REMINDER_NOT_INSTALLED")],
    ["NO_FILE_DATA", refusal("NO_FILE_DATA")],
    ["FILE_UNREADABLE", unreadable("FILE_UNREADABLE")],
    ["SOURCE_OFFLINE", unreadable("SOURCE_OFFLINE")],
    ["a change", changed],
  ] as const)("%s: keeps no gate shut once the allowance is back", async ([, outcome]) => {
    const { desk, account, sent, uploaded } = await aSpentAccount(outcome);
    await desk.advance(2 * HOUR);
    expect(await uploaded()).toBe(0);
    expect(sent()).toBeLessThan(30);
    account.isSpent = false;
    for (let n = 0; n < 24 && (await uploaded()) < 20; n++) await desk.advance(10 * MINUTE);
    expect(await uploaded()).toBe(20);
  });

  test("three of them close the gate, and the next good one opens it", async () => {
    const { desk, account, bad, sent, uploaded } = await aSpentAccount(refusal("HTTP_415"));
    account.isSpent = false;
    await desk.advance(HOUR);
    expect(await uploaded()).toBe(20);
    // Each waits by itself, ever more rarely, and keeps no other for long.
    await desk.advance(7 * 24 * HOUR);
    expect(sent()).toBeLessThan(5 * 50);
    const late = desk.pending({ path: "good-late.pdf" });
    desk.context.bells.sending.ring();
    await desk.advance(10 * MINUTE);
    expect((await desk.row(late)).state).toBe("uploaded");
    for (const row of bad) {
      expect(await desk.row(row)).toMatchObject({ state: "held", trouble: { code: "HTTP_415" } });
    }
  });

  test("a life of the daemon for each probe does not make it the probe again", async () => {
    const { desk, account, bad } = await aSpentAccount(refusal("HTTP_415"));
    await desk.advance(6 * MINUTE);
    const tried = (await Promise.all(bad.map((row) => desk.row(row)))).filter(
      ({ trouble }) => trouble?.code === "HTTP_415",
    );
    expect(tried).toHaveLength(1);
    account.isSpent = false;
    // What a later life knows, it has from the journal.
    const keeper = await desk.keeper();
    for (let hour = 0; hour < 5; hour++) {
      await desk.advance(0);
      await keeper.sweep();
      const { attempts } = await desk.row(tried[0]?.id ?? 0);
      expect(attempts).toBe(1);
      const probe = await new Probes(desk.context).next();
      expect(probe?.id).not.toBe(tried[0]?.id);
      await keeper.sweep();
    }
  });

  test("alone it probes itself, in its own time", async () => {
    const bench = await aSender();
    const { desk } = bench;
    const row = desk.pending({ seen: small });
    answers(bench, refusal("HTTP_415"));
    await bench.keeper.refused(quota, false);
    const folders = new Folders(desk.archive);
    await desk.run(bench.sender, new Held(desk.context, folders, new Placement(folders)));
    await desk.advance(7 * 24 * HOUR);
    const tries = desk.reader.sent.length;
    expect(tries).toBeGreaterThan(10);
    expect(tries).toBeLessThan(50);
    answers(bench, stored(7));
    await desk.advance(13 * HOUR);
    expect((await desk.row(row)).state).toBe("uploaded");
  });
});

describe("a reader that is down", () => {
  test("nothing is claimed for it, others go on; once it is up, its documents go too", async () => {
    const bench = await aSender({ mirrors: [{}, {}] });
    const { desk } = bench;
    desk.reader.pid = undefined;
    const ours = desk.pending();
    const other = desk.pending({ mirrorId: 2 });
    await desk.run(bench.sender);
    await desk.advance(HOUR);
    expect(await desk.row(ours)).toMatchObject({ state: "pending", attempts: 0 });
    expect(await desk.story(ours)).toEqual([]);
    expect((await desk.row(other)).state).toBe("uploaded");
    desk.reader.pid = 4712;
    desk.context.bells.sending.ring();
    await desk.advance(0);
    expect((await desk.row(ours)).state).toBe("uploaded");
  });

  test("the gate is probed by a document of a reader that is up", async () => {
    const bench = await aSender({ mirrors: [{}, {}] });
    const { desk } = bench;
    desk.reader.pid = undefined;
    desk.pending({ seen: { sizeBytes: 1, modifiedAt: 0, stamp: "a" } });
    const other = desk.pending({ mirrorId: 2 });
    await bench.keeper.refused(quota, false);
    await desk.run(bench.sender);
    await desk.advance(5 * MINUTE);
    expect((await desk.row(other)).state).toBe("uploaded");
    expect(bench.keeper.gate.closedAt).toBeNull();
  });
});
