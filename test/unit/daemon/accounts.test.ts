/** Several accounts in one daemon: each learns about its own, and one that breaks ends all. */
import { expect, test } from "vitest";
import { type LiveAccount, Accounts } from "../../../src/daemon/bind-archives.ts";
import { healthOf } from "../../../src/daemon/health.ts";
import { Heartbeats } from "../../../src/daemon/heartbeats.ts";
import type { Applied } from "../../../src/journal/journal.ts";
import { aborted } from "../../../src/std/abort.ts";
import type { Outage } from "../../../src/sync/outage.ts";
import type { IdentityGuard } from "../../../src/sync/archive-identity.ts";
import type { Sync } from "../../../src/sync/sync.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";
import { aDocument } from "../../fixtures/a-document.ts";
import { reportOf } from "../dashboard/open-dashboard.ts";
import { Desk } from "../../contract/journal-desk.ts";
import { aConfig, aMirror } from "../../fixtures/a-config.ts";

const MINUTE = 60_000;
const clock = new ManualClock();

/** An account whose loops do what `sync` says. */
function anAccount(name: string, id: number, sync: Partial<Sync>, journal = new MemoryJournal()) {
  const usual = aConfig();
  const archive = { ...usual.archive, name };
  const config = { ...usual, archive, mirrors: [aMirror({ archive: name })] };
  const hearts = new Heartbeats(clock, 1_000);
  const owns = (mirrorId: number) => mirrorId === id;
  const identity = { standing: "same" } as IdentityGuard;
  return { config, journal, sync: sync as Sync, identity, hearts, owns } satisfies LiveAccount;
}

const applied = (mirrorId: number): Applied => ({
  change: { type: "note", id: mirrorId, at: 0, why: "", set: {} },
  document: aDocument({ mirrorId }),
  from: "pending",
  skipped: false,
});

test("what is journaled is told to whose mirror it is", () => {
  const told: [string, number[]][] = [];
  const listener = (name: string): Partial<Sync> => ({
    journaled: (all) => told.push([name, all.map(({ document }) => document?.mirrorId ?? 0)]),
  });
  const accounts = new Accounts([
    anAccount("main", 1, listener("main")),
    anAccount("legal", 2, listener("legal")),
  ]);
  accounts.journaled([applied(2), applied(1), applied(2)]);
  expect(told).toEqual([
    ["main", [1]],
    ["legal", [2, 2]],
  ]);
});

test("the first that fails ends the others, and is what is told", async () => {
  const broken = new Error("its journal refuses");
  let ended = false;
  const accounts = new Accounts([
    anAccount("main", 1, {
      run: async (stopping) => {
        await aborted(stopping).catch(() => {});
        ended = true;
      },
    }),
    anAccount("legal", 2, { run: () => Promise.reject(broken) }),
  ]);
  await expect(accounts.run(new AbortController().signal)).rejects.toBe(broken);
  expect(ended).toBe(true);
});

test("asked to stop, all of them do", async () => {
  const stopping = new AbortController();
  const run = (signal: AbortSignal) => aborted(signal);
  const accounts = new Accounts([anAccount("main", 1, { run }), anAccount("legal", 2, { run })]);
  const running = accounts.run(stopping.signal);
  stopping.abort(new Error("stop"));
  await running;
});

test("a loop that is stuck is told with the archive it serves", async () => {
  const first = anAccount("main", 1, {});
  const second = anAccount("legal", 2, {});
  second.hearts.wakeup("sending");
  expect(new Accounts([first, second]).stuck()).toBeUndefined();
  await clock.advance(7 * 60 * MINUTE);
  expect(new Accounts([first, second]).stuck()).toMatch(/^archive legal: the loop "sending"/);
  expect(new Accounts([second]).stuck()).toMatch(/^the loop "sending"/);
});

test("an archive that rightly waits hides no other that is stuck", async () => {
  const outage: Outage = { tries: 1, until: 0, problem: { code: "UNREACHABLE", message: "" } };
  const online = new Map([
    [1, { state: { status: { online: true } }, mirror: { settings: aMirror() } }],
  ]);
  const scanSchedulers = online as unknown as Sync["scanSchedulers"];
  const journal = new MemoryJournal();
  const desk = await Desk.at(journal);
  const { id } = await desk.add("a.pdf");
  const settled = { digest: "d", sentName: "a.pdf", targetPath: "/", remark: null, batch: "b" };
  await desk.after(id, { type: "settled", at: clock.now(), ...settled });
  const all = [
    anAccount("main", 1, { scanSchedulers, outage: undefined, underWay: 0 }, journal),
    anAccount("legal", 2, { scanSchedulers: new Map(), outage, underWay: 0 }),
  ];
  const watches = new Map();
  expect(await healthOf(all, watches, reportOf(), clock)).toMatchObject({
    healthy: true,
    ready: true,
    why: "ok",
  });
  await clock.advance(20 * MINUTE);
  expect(await healthOf(all, watches, reportOf(), clock)).toMatchObject({
    healthy: false,
    why: expect.stringMatching(/^main: nothing has moved for 20 minutes/),
  });
});
