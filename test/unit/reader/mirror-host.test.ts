/** How a mirror's host follows its source, whatever fails on the way. */
import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import type { RpcChannel } from "../../../src/reader/rpc-channel.ts";
import { MirrorHost } from "../../../src/reader/mirror-host.ts";
import type { DaemonCalls, MirrorStatus } from "../../../src/reader/protocol.ts";
import type { SourceSettings } from "../../../src/source/source.ts";
import { SourceOffline } from "../../../src/source/file-fault.ts";
import { TopWatchers } from "../../../src/source/top-watchers.ts";
import { DirectoryWatch } from "../../../src/source/watch.ts";
import type { RawPath } from "../../../src/std/raw-path.ts";
import { until } from "../../fixtures/until.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { never, put, raw, scratch, settingsOf } from "../source/scratch.ts";

const LOOK_MS = 5_000;

/** A host of a source that is there; `refuse` is asked before each status or hint is taken. */
async function aHost(
  refuse: (what: "status" | "hint") => void = () => {},
  more: Partial<SourceSettings> = {},
) {
  const source = `${scratch()}/source`;
  mkdirSync(source);
  put(source, "scan.pdf");
  const told: MirrorStatus[] = [];
  const doubts: string[] = [];
  const hints: RawPath[] = [];
  const vanished: RawPath[] = [];
  const calls: Pick<DaemonCalls, "status" | "doubt" | "hint" | "listing" | "vanished"> = {
    listing: async () => true,
    vanished: async (_, dirs) => void vanished.push(...dirs),
    async status(status) {
      refuse("status");
      told.push(status);
    },
    doubt: async (_, why) => void doubts.push(why),
    async hint(_, files) {
      refuse("hint");
      hints.push(...files.map(({ path }) => path));
    },
  };
  const call = async (method: keyof typeof calls, ...all: never[]) =>
    (calls[method] as (...all: never[]) => Promise<void>)(...all);
  const daemon = { call, flush() {} } as unknown as RpcChannel<DaemonCalls>;
  const clock = new ManualClock();
  const settings = settingsOf(source, more);
  const mirror = { id: 1, settings, mode: "native", tidies: false, known: [] } as const;
  const host = new MirrorHost(mirror, daemon, clock);
  const ending = new AbortController();
  onTestFinished(async () => {
    ending.abort();
    await host.close();
  });
  await host.refresh();
  host.follow(ending.signal).catch(() => {});
  /** Looks again and again until something holds: how long one takes is the disk's affair. */
  const looksUntil = (what: string, holds: () => boolean) =>
    until(what, async () => {
      await clock.advance(LOOK_MS);
      return holds() || undefined;
    });
  return { source, host, told, doubts, hints, vanished, clock, looksUntil };
}

test("a source that goes just as it is to be watched is offline, and watched once it is there", async () => {
  const { source, told, looksUntil } = await aHost();
  const open = vi.spyOn(DirectoryWatch, "open");
  onTestFinished(() => open.mockRestore());
  open.mockRejectedValueOnce(new SourceOffline("it went"));
  renameSync(source, `${source}-away`);
  await looksUntil("it is away", () => told.length === 1);
  renameSync(`${source}-away`, source);
  await looksUntil("it is back", () => told.at(-1)?.online === true);
  expect(told.map(({ online, why }) => [online, why])).toEqual([
    [false, `${source} does not exist`],
    [false, "it went"],
    [true, ""],
  ]);
  expect(open).toHaveBeenCalledTimes(2);
});

test("a status that the daemon cannot take is told again; the source is followed on", async () => {
  let refused = 0;
  const { source, told, looksUntil } = await aHost(() => {
    if (refused++ < 2) throw new Error("busy");
  });
  renameSync(source, `${source}-away`);
  await looksUntil("it is taken", () => told.length > 0);
  expect(refused).toBe(3);
  renameSync(`${source}-away`, source);
  await looksUntil("it is back", () => told.length > 1);
  expect(told, "each once").toMatchObject([{ online: false }, { online: true }]);
});

test("a watch that cannot be closed well ends nothing: the source is followed on", async () => {
  const { source, told, looksUntil } = await aHost();
  const close = vi.spyOn(TopWatchers.prototype, "close");
  onTestFinished(() => close.mockRestore());
  close.mockRejectedValueOnce(new Error("bad file descriptor"));
  renameSync(source, `${source}-away`);
  await looksUntil("it is away", () => told.length === 1);
  renameSync(`${source}-away`, source);
  await looksUntil("it is back", () => told.at(-1)?.online === true);
});

test("a link that leads to another directory now: that is watched instead, and scanned", async () => {
  const { source, told, doubts, hints, clock, looksUntil } = await aHost();
  const isReplaced = () => doubts.includes("the source is another directory now");
  // From now on what the host looks at is a link, to the directory that it knows.
  renameSync(source, `${source}-before`);
  symlinkSync(`${source}-before`, source);
  put(`${source}-next`, "scan.pdf");
  symlinkSync(`${source}-next`, `${source}-link`);
  expect(isReplaced()).toBe(false);
  renameSync(`${source}-link`, source);
  await looksUntil("it is another one", isReplaced);
  expect(told, "it was never away").toEqual([]);
  hints.length = 0;
  put(source, "scan.pdf", "edited");
  await until("a hint", async () => {
    await clock.advance(50);
    return hints.includes("scan.pdf" as RawPath) || undefined;
  });
});

test("a file that the daemon could not take is left to a whole scan, which is asked for", async () => {
  let isFull = true;
  const { source, doubts, hints, clock } = await aHost((what) => {
    if (what === "hint" && isFull) throw new Error("database or disk is full");
  });
  put(source, "new.pdf");
  await until("a doubt", async () => {
    await clock.advance(50);
    return doubts.length > 0 || undefined;
  });
  expect(doubts[0]).toBe("database or disk is full");
  isFull = false;
  put(source, "next.pdf");
  await until("the next hint", async () => {
    await clock.advance(50);
    return hints.includes("next.pdf" as RawPath) || undefined;
  });
});

test.for([
  ["**/*", "any name may be a file's"],
  ["**/*.pdf", "its name is no document's, so that no event of it is told"],
])(
  "a folder that is renamed or moved out is told with all that was below it, include %s: %s",
  async ([glob = ""]) => {
    const { source, host, doubts, vanished, clock } = await aHost(() => {}, { include: [glob] });
    const SOON_MS = 2_500;
    put(source, "2025/May/scan.pdf");
    put(source, "2025/scan.pdf");
    put(source, "2026/scan.pdf");
    const passed = async (what: string, holds: () => boolean) =>
      until(what, async () => {
        await clock.advance(SOON_MS);
        return holds() || undefined;
      });
    await host.scan(null, never);
    // Known to the watch, too, once it has looked for changes.
    await clock.advance(SOON_MS);
    renameSync(`${source}/2025`, `${source}/2025 old`);
    await passed("its name is free", () => vanished.length > 0);
    expect(new Set(vanished)).toEqual(new Set(["2025", "2025/May"]));
    renameSync(`${source}/2026`, `${source}-moved-out`);
    await passed("moved out", () => vanished.includes(raw("2026")));
    expect(doubts).toEqual([]);
  },
);

test("what has no folder's place any more since the source itself is away is not told", async () => {
  const { source, host, vanished, clock, looksUntil, told } = await aHost();
  put(source, "2025/scan.pdf");
  await host.scan(null, never);
  await clock.advance(2_500);
  renameSync(source, `${source}-away`);
  await looksUntil("it is away", () => told.length === 1);
  await clock.advance(60_000);
  expect(vanished).toEqual([]);
});

test("what is not watched, though it is to be, is told with the status, and its end", async () => {
  const { told, looksUntil } = await aHost();
  const failure = vi.spyOn(TopWatchers.prototype, "failure", "get");
  onTestFinished(() => failure.mockRestore());
  failure.mockReturnValue(Object.assign(new Error("no space"), { code: "ENOSPC" }));
  await looksUntil("it is told", () => told.length === 1);
  failure.mockReturnValue(undefined);
  await looksUntil("its end is told", () => told.length === 2);
  const limited = "the limit of watched directories is reached (fs.inotify.max_user_watches)";
  expect(told.map(({ online, unwatched }) => [online, unwatched])).toEqual([
    [true, limited],
    [true, null],
  ]);
});
