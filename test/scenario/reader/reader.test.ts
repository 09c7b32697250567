/** The handle on a reader, with real processes. */
import { spawn } from "node:child_process";
import { getEventListeners, once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { ChannelClosed } from "../../../src/reader/rpc-channel.ts";
import type { ReaderMirror } from "../../../src/reader/protocol.ts";
import { type Clock, systemClock } from "../../../src/std/clock.ts";
import { type RawPath, rawOfText } from "../../../src/std/raw-path.ts";
import { childrenOf } from "../../fixtures/a-process.ts";
import { until } from "../../fixtures/until.ts";
import { never, put, scratch } from "../../unit/source/scratch.ts";
import { isAlive, MIRROR, openReader, orderFor, silentArchive } from "./a-reader.ts";

const EXPECTED = { digest: "digest", sentAt: null, sidecar: null };

/** Silence shows soon; patience is out when a test says so, and not because the machine is busy. */
const livenessLimits = { everyMs: 50, idleMs: 100, silentMs: 100, patienceMs: 6_000 };

/** A clock on which patience with a process lasts as long as a test wants. */
class Patience {
  readonly clock: Clock;
  /** Over before it began, as long as this is set. */
  isNone = false;
  #over = Promise.withResolvers<void>();

  constructor() {
    this.clock = {
      ...systemClock,
      sleep: (ms, signal) => {
        if (ms !== livenessLimits.patienceMs - livenessLimits.silentMs)
          return systemClock.sleep(ms, signal);
        if (this.isNone) return Promise.resolve();
        return Promise.race([this.#over.promise, systemClock.sleep(3_600_000, signal)]);
      },
    };
  }

  /** It is over for anyone who has it now. */
  end(): void {
    this.#over.resolve();
    this.#over = Promise.withResolvers();
  }
}

const pidOf = (open: ReturnType<typeof openReader>, notThis?: number) =>
  until("a reader", () => (open.reader.pid === notThis ? undefined : open.reader.pid));

describe("what a reader is asked", () => {
  test("waits until the process is up, and is answered by it", async () => {
    const open = openReader();
    put(open.source, "2026/scan.pdf", "content");
    const report = await open.reader.scan(MIRROR, null);
    expect(report).toMatchObject({ directories: 2, files: 1, vanished: [] });
    expect(open.listings.map(({ dir, files }) => [dir, files.map(({ name }) => name)])).toEqual([
      ["", []],
      ["2026", ["scan.pdf"]],
    ]);
    expect(open.starts).toMatchObject([{ restart: false, statuses: [{ online: true }] }]);
  });

  test("tells what is there, what is not, and what is changed", async () => {
    const { reader, source } = openReader();
    put(source, "scan.pdf", "content");
    const paths = ["scan.pdf", "other.pdf"].map(rawOfText);
    const [there, notThere] = await reader.look(MIRROR, paths);
    expect(there).toMatchObject({ sizeBytes: 7 });
    expect(notThere).toBeNull();
    put(source, "scan.pdf", "other content");
    const files = [{ path: rawOfText("scan.pdf"), seen: there ?? null }];
    expect(await reader.inspect(MIRROR, files, { pages: false })).toMatchObject([
      { kind: "changed" },
    ]);
  });

  test("of a mirror it does not host: an error, not its end", async () => {
    const open = openReader();
    await expect(open.reader.scan(99, null)).rejects.toThrow("no mirror 99 in this reader");
    await open.reader.scan(MIRROR, null);
    expect(open.starts).toHaveLength(1);
  });
});

test("of thousands of files that appear at once, the next learn about once the first are journaled", async () => {
  const told = new Set<RawPath>();
  const journaled = Promise.withResolvers<void>();
  const open = openReader({
    mode: "native",
    async hint(_, files) {
      for (const { path } of files) told.add(path);
      await journaled.promise;
    },
  });
  await open.reader.scan(MIRROR, null);
  for (let index = 0; index < 1_000; index++) put(open.source, `scan-${index}.pdf`, "content");
  // How many come together is chance: the kernel's events are read while files are still written.
  await until("the first hints", () => told.size > 0 || undefined);
  // Each is a turn of the reader's event loop, in which it could tell of more.
  for (let turn = 0; turn < 50; turn++) await open.reader.look(MIRROR, [rawOfText("scan-1.pdf")]);
  expect(told.size).toBeLessThanOrEqual(100);
  journaled.resolve();
  await until("all hints", () => told.size === 1_000 || undefined);
});

test("of many directories that changed at once, one is listed after the other is journaled", async () => {
  let open = 0;
  let most = 0;
  const { reader, source, listings } = openReader({
    mode: "native",
    async listing() {
      most = Math.max(most, ++open);
      await nextTurn();
      open--;
      return true;
    },
  });
  const dirs = Array.from({ length: 20 }, (_, index) => `dir-${index}`);
  for (const dir of dirs) mkdirSync(`${source}/${dir}`);
  await reader.status(MIRROR);
  await reader.scan(MIRROR, null);
  listings.length = 0;
  most = 0;
  // Names that are not UTF-8 are garbled in events: the directory has to be listed.
  for (const dir of dirs) writeFileSync(Buffer.from(`${source}/${dir}/\xff.pdf`, "latin1"), "");
  await until(
    "all listings",
    () => new Set(listings.map(({ dir }) => dir)).size === 20 || undefined,
  );
  expect(most).toBe(1);
});

test("an after-action does not wait for the process: others would wait with it", async () => {
  const { reader } = openReader();
  const acting = reader.act(MIRROR, rawOfText("scan.pdf"), EXPECTED, { kind: "delete" });
  await expect(acting).rejects.toThrow(ChannelClosed);
});

describe("sending", () => {
  test("without a process it is given back, not begun", async () => {
    const { reader, source } = openReader();
    put(source, "scan.pdf");
    const order = await orderFor(reader, "scan.pdf");
    await reader.close();
    expect(await reader.send(order, never)).toEqual({ kind: "released" });
  });

  test("cut before it began it is given back; cut in the middle it is in doubt", async () => {
    const archive = await silentArchive();
    const { reader, source } = openReader({ archive: () => archive.settings });
    put(source, "scan.pdf");
    const order = await orderFor(reader, "scan.pdf");
    expect(await reader.send(order, AbortSignal.abort())).toEqual({ kind: "released" });
    const cut = new AbortController();
    const outcome = reader.send(order, cut.signal);
    await archive.connected;
    cut.abort();
    expect(["inDoubt", "notSent"]).toContain((await outcome).kind);
  });
});

describe("a reader that hangs or dies", () => {
  test("hangs: it is killed and started again; what it was sending is in doubt", async () => {
    const archive = await silentArchive();
    const down: string[] = [];
    const patience = new Patience();
    const open = openReader({
      archive: () => archive.settings,
      clock: patience.clock,
      livenessLimits,
      down: (what) => down.push(what),
    });
    put(open.source, "scan.pdf");
    const order = await orderFor(open.reader, "scan.pdf");
    const outcome = open.reader.send(order, never);
    await archive.connected;
    const pid = await pidOf(open);
    process.kill(pid, "SIGSTOP");
    const scan = open.reader.scan(MIRROR, null).catch((error: unknown) => error);
    await until("the end of all patience", () => {
      patience.end();
      return down.length > 0;
    });
    expect(await outcome).toMatchObject({ kind: "inDoubt", problem: { code: "REPLY_LOST" } });
    expect(await scan).toBeInstanceOf(ChannelClosed);
    await pidOf(open, pid);
    expect(await open.reader.scan(MIRROR, null)).toMatchObject({ files: 1 });
    expect(open.starts.map(({ restart }) => restart)).toEqual([false, true]);
    expect(open.warnings.join("\n")).toContain("does not answer");
    expect(down).toEqual([`does not answer (${livenessLimits.patienceMs / 1_000} s)`]);
    await until("its end", () => !isAlive(pid));
  });

  test("that only takes long to answer a call is silent meanwhile, and not killed", async () => {
    const told: boolean[] = [];
    const open = openReader({
      clock: new Patience().clock,
      livenessLimits,
      silence: () => told.push(open.reader.silent),
    });
    const pid = await pidOf(open);
    process.kill(pid, "SIGSTOP");
    const scan = open.reader.scan(MIRROR, null);
    await until("silence", () => open.reader.silent);
    await new Promise((resolve) => setTimeout(resolve, livenessLimits.everyMs + 50));
    process.kill(pid, "SIGCONT");
    expect(await scan).toMatchObject({ directories: 1 });
    expect(open.reader.pid).toBe(pid);
    await until("an answer", () => !open.reader.silent);
    expect(told.slice(0, 2)).toEqual([true, false]);
  });

  test("that takes longer to start than it may take to answer is not killed for that", async () => {
    const before = childrenOf(process.pid);
    const patience = new Patience();
    patience.isNone = true;
    const open = openReader({ clock: patience.clock, livenessLimits });
    const pid = await until("its process", () =>
      childrenOf(process.pid).find((child) => !before.includes(child)),
    );
    process.kill(pid, "SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    patience.isNone = false;
    process.kill(pid, "SIGCONT");
    await until("a start", () => open.starts.length > 0);
    expect(open.starts[0]?.statuses).toMatchObject([{ online: true }]);
    expect(open.reader.pid).toBe(pid);
  });

  test("dies again and again: it is started again, ever more slowly", async () => {
    const rarely = { everyMs: 20_000, idleMs: 20_000, silentMs: 20_000, patienceMs: 20_000 };
    const open = openReader({ random: () => 0, livenessLimits: rarely });
    let pid: number | undefined;
    for (let death = 0; death < 3; death++) {
      pid = await pidOf(open, pid);
      process.kill(pid, "SIGKILL");
      const dead = pid;
      await until("its end to be noticed", () => open.reader.pid !== dead);
    }
    await until("the last start", () => open.starts.length === 4);
    const waits = open.sleeps.filter((ms) => ms < 10_000);
    expect(waits).toEqual([100, 200, 400]);
    expect(open.warnings.filter((line) => line.includes("SIGKILL"))).toHaveLength(3);
  });

  test("started again and again, it leaves nothing behind on what ends it", async () => {
    const signals = new Set<AbortSignal>();
    const sleep = (ms: number, signal: AbortSignal) => {
      signals.add(signal);
      return systemClock.sleep(ms, signal);
    };
    const never = 3_600_000;
    const often = { everyMs: 20, idleMs: 20, silentMs: never, patienceMs: never };
    const clock = { ...systemClock, sleep };
    const open = openReader({ clock, random: () => 0, livenessLimits: often });
    const listeners = () =>
      Math.max(...[...signals].map((signal) => getEventListeners(signal, "abort").length));
    let pid = await pidOf(open);
    await until("a first wait", () => signals.size > 0);
    for (let death = 0; death < 4; death++) {
      process.kill(pid, "SIGKILL");
      pid = await pidOf(open, pid);
    }
    // Of this life and its present wait; a wait of the last one may not be over.
    await until("only what is in use", () => listeners() <= 2);
  });

  test("a call that waits for the process outlives its deaths", async () => {
    const open = openReader({ random: () => 0 });
    const pid = await pidOf(open);
    process.kill(pid, "SIGKILL");
    await until("its end to be noticed", () => open.reader.pid === undefined);
    expect(await open.reader.scan(MIRROR, null)).toMatchObject({ directories: 1 });
  });

  test("one that cannot open says why, and is started again", async () => {
    let starts = 0;
    const down: string[] = [];
    const open = openReader({
      random: () => 0,
      down: (what) => down.push(what),
      mirrors: () => {
        starts += 1;
        return starts < 6 ? Promise.reject(new Error("the journal is busy")) : Promise.resolve([]);
      },
    });
    await until("it to be up", () => open.starts.length === 1);
    expect(open.warnings).toHaveLength(5);
    expect(open.warnings[0]).toContain("the journal is busy");
    const what = "cannot be read: the reader process does not start (the journal is busy)";
    expect(down).toEqual([what, what]);
  });
});

describe("the end", () => {
  test("closed, the process is gone and calls are refused", async () => {
    const open = openReader();
    const pid = await pidOf(open);
    await open.reader.close();
    await until("its end", () => !isAlive(pid));
    await expect(open.reader.scan(MIRROR, null)).rejects.toBeInstanceOf(ChannelClosed);
    expect(open.reader.pid).toBeUndefined();
    await open.reader.close();
  });

  test.for([
    ["at once", false],
    ["while it starts", true],
  ] as const)("closed %s, it ends all the same, and so do calls that wait", async ([, runs]) => {
    const asked = Promise.withResolvers<void>();
    const told = Promise.withResolvers<ReaderMirror[]>();
    const mirrors = () => {
      asked.resolve();
      return told.promise;
    };
    const open = openReader({ mirrors });
    const scan = open.reader.scan(MIRROR, null).catch((error: unknown) => error);
    if (runs) await asked.promise;
    await open.reader.close();
    expect(await scan).toBeInstanceOf(ChannelClosed);
    told.resolve([]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(open.starts).toEqual([]);
  });

  test("a process that hangs does not keep it open", async () => {
    const open = openReader();
    const pid = await pidOf(open);
    process.kill(pid, "SIGSTOP");
    await open.reader.close();
    await until("its end", () => !isAlive(pid));
  });

  test("when the daemon is killed, its reader ends", async () => {
    const parent = spawn(
      process.execPath,
      [fileURLToPath(new URL("./parent.ts", import.meta.url)), scratch()],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    onTestFinished(() => void parent.kill("SIGKILL"));
    const [line] = (await once(createInterface({ input: parent.stdout }), "line")) as [string];
    const pid = Number(line);
    expect(isAlive(pid)).toBe(true);
    parent.kill("SIGKILL");
    await until("the reader's end", () => !isAlive(pid));
  });

  test("signals that a terminal sends to all are for the daemon to act on", async () => {
    const open = openReader();
    const pid = await pidOf(open);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1"] as const) {
      process.kill(pid, signal);
      await open.reader.scan(MIRROR, null);
    }
    expect(open.reader.pid).toBe(pid);
  });
});

test("neither its environment nor its command line holds a secret", async () => {
  const canary = "canary-8155";
  process.env["SCANFERRY_SIGNING_SECRET"] = `${canary}-environment`;
  process.env["SCANFERRY_ACCOUNT_KEY"] = `${canary}-environment`;
  process.env["SOME_TOKEN"] = `${canary}-environment`;
  onTestFinished(() => {
    for (const key of ["SCANFERRY_SIGNING_SECRET", "SCANFERRY_ACCOUNT_KEY", "SOME_TOKEN"])
      delete process.env[key];
  });
  const archive = await silentArchive(canary);
  const open = openReader({ archive: () => archive.settings });
  const pid = await pidOf(open);
  const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
  expect(environment).toContain("PATH=");
  expect(environment).not.toContain(canary);
  expect(environment).not.toContain("SCANFERRY");
  const commandLine = readFileSync(`/proc/${pid}/cmdline`, "utf8");
  expect(commandLine).toContain("reader/child.");
  expect(commandLine).not.toContain(canary);
  expect(commandLine).not.toContain(open.source);
});
