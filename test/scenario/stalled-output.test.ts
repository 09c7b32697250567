/** Output that nobody takes: a pipe that is full, a terminal that is stopped. The daemon works on, and ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { BUILT, childrenOf } from "../fixtures/a-process.ts";
import { aTerminal } from "../fixtures/a-terminal.ts";
import { rowsOf } from "../fixtures/auditor.ts";
import { stalledPipe } from "../fixtures/stalled-pipe.ts";
import { until } from "../fixtures/until.ts";
import { aWorld, type World } from "../fixtures/world.ts";
import { isAlive } from "./reader/a-reader.ts";

vi.setConfig({ testTimeout: 120_000 });

/** `scanferry …` with both outputs into one pipe, as by `2>&1`. */
function aRun(words: readonly string[], descriptor: number): ChildProcess {
  const child = spawn(process.execPath, [BUILT, ...words], {
    stdio: ["ignore", descriptor, descriptor],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** The exit code, or the signal that ended it; undefined: it goes on. */
async function endOf(child: ChildProcess, withinMs: number) {
  const ended = once(child, "exit").then(([code, signal]) => (code ?? signal) as number | string);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), withinMs);
  });
  try {
    return await Promise.race([ended, late]);
  } finally {
    clearTimeout(timer);
  }
}

const allConverted = async ({ journal }: World, documents: number) => {
  const rows = existsSync(journal) ? await rowsOf(journal) : [];
  return rows.length === documents && rows.every(({ state }) => state === "converted");
};

/** Documents whose lines fill more than what a terminal holds. */
function write(world: World, documents: number): void {
  for (let n = 0; n < documents; n++) world.write(`${n}-${"n".repeat(150)}.txt`, `text ${n}`);
}

test("a full pipe: it works on and ends when it is asked to", async () => {
  await using world = await aWorld({ convertDelayMs: 50 });
  const config = world.configFile("log: { level: trace }");
  using pipe = stalledPipe();
  const daemon = aRun(["--config", config, "run"], pipe.descriptor);
  write(world, 20);
  await until("conversion", () => allConverted(world, 20));
  daemon.kill("SIGTERM");
  expect(await endOf(daemon, 20_000)).toBe(0);
});

test("a full pipe: a fault ends it, so that its supervisor starts it again", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  // No time makes a journal of it.
  mkdirSync(world.journal, { recursive: true });
  using pipe = stalledPipe();
  expect(await endOf(aRun(["--config", config, "run"], pipe.descriptor), 20_000)).toBe(1);
});

test("a stopped terminal: it works on and ends when it is asked to", async () => {
  await using world = await aWorld({ convertDelayMs: 50 });
  const config = world.configFile("log: { level: trace }");
  await using terminal = aTerminal(["--config", config, "run"]);
  await terminal.says(/started/);
  const [daemon = 0] = childrenOf(terminal.child.pid);
  // Who stops what would read it, as who presses Ctrl-S.
  terminal.child.kill("SIGSTOP");
  write(world, 150);
  await until("conversion", () => allConverted(world, 150), 60_000);
  process.kill(daemon, "SIGTERM");
  await until("its end", () => !isAlive(daemon), 20_000);
});

test("what a command prints is whole, however late it is read", async () => {
  using pipe = stalledPipe();
  const help = aRun(["list", "--help"], pipe.descriptor);
  // Longer than a daemon would wait for.
  expect(await endOf(help, 3_000)).toBeUndefined();
  const ended = once(help, "exit");
  let said = pipe.read();
  await ended;
  said += pipe.read();
  expect(said.replace(/^\.+/, "")).toMatch(/^Usage: scanferry list[\s\S]+\n$/);
  expect(help.exitCode).toBe(0);
});
