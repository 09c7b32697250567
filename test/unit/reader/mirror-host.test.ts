/** How a mirror's host follows its source, whatever fails on the way. */
import { mkdirSync, renameSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Line } from "../../../src/reader/line.ts";
import { MirrorHost } from "../../../src/reader/mirror-host.ts";
import type { DaemonCalls, MirrorStatus } from "../../../src/reader/protocol.ts";
import { SourceOffline } from "../../../src/source/file-fault.ts";
import { DirectoryWatch } from "../../../src/source/watch.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { put, scratch, settingsOf } from "../source/scratch.ts";

const LOOK_MS = 5_000;

/** A host of a source that is there; `refuse` is asked before each status is taken. */
async function aHost(refuse: () => void = () => {}) {
  const source = `${scratch()}/source`;
  mkdirSync(source);
  put(source, "scan.pdf");
  const told: MirrorStatus[] = [];
  const call = async (_: "status", status: MirrorStatus) => {
    refuse();
    told.push(status);
  };
  const daemon = { call, hurry() {} } as unknown as Line<DaemonCalls>;
  const clock = new ManualClock();
  const settings = settingsOf(source);
  const mirror = { id: 1, settings, mode: "native", tidies: false, known: [] } as const;
  const host = new MirrorHost(mirror, daemon, clock);
  const ending = new AbortController();
  onTestFinished(async () => {
    ending.abort();
    await host.close();
  });
  await host.refresh();
  host.follow(ending.signal).catch(() => {});
  /** The next look, and all that comes of it. */
  const look = async () => {
    await clock.advance(LOOK_MS);
    await new Promise((resolve) => setTimeout(resolve, 50));
  };
  return { source, told, look };
}

/** The source goes and comes back between two looks. */
async function goneAndBack({ source, look }: Awaited<ReturnType<typeof aHost>>): Promise<void> {
  renameSync(source, `${source}-away`);
  await look();
  renameSync(`${source}-away`, source);
  await look();
}

test("a source that goes just as it is to be watched is offline, and watched once it is there", async () => {
  const host = await aHost();
  const open = vi.spyOn(DirectoryWatch, "open");
  onTestFinished(() => open.mockRestore());
  open.mockRejectedValueOnce(new SourceOffline("it went"));
  await goneAndBack(host);
  expect(host.told.at(-1)).toMatchObject({ online: false, why: "it went" });
  await host.look();
  expect(host.told.at(-1)).toMatchObject({ online: true, why: "" });
  expect(open).toHaveBeenCalledTimes(2);
});

test("a status that the daemon cannot take is told again; the source is followed on", async () => {
  let refusals = 1;
  const host = await aHost(() => {
    if (refusals-- > 0) throw new Error("busy");
  });
  renameSync(host.source, `${host.source}-away`);
  await host.look();
  expect(host.told).toEqual([]);
  await host.look();
  expect(host.told).toMatchObject([{ online: false }]);
  await host.look();
  expect(host.told, "once").toHaveLength(1);
  renameSync(`${host.source}-away`, host.source);
  await host.look();
  expect(host.told).toMatchObject([{ online: false }, { online: true }]);
});
