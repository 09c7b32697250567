import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { takeNotifier, silentNotifier } from "../../../src/daemon/notifier.ts";

/** Longer than any machine takes to start a shell. */
const PATIENT_MS = 50_000;

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "scanferry-notifier-"));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A program of that name, first on the path. */
function program(script: string): NodeJS.ProcessEnv {
  const path = join(dir, "systemd-notify");
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return { PATH: `${dir}:${process.env["PATH"]}`, NOTIFY_SOCKET: join(dir, "notify"), SECRET: "x" };
}

const said = () => readFileSync(join(dir, "said"), "utf8").trim().split("\n");

test("nobody listens: nothing is started", async () => {
  const { NOTIFY_SOCKET: _, ...env } = program(`echo "$@" >>"${dir}/said"`);
  expect(takeNotifier(env, 1)).toBe(silentNotifier);
  expect(await silentNotifier.tell("READY=1")).toBeUndefined();
});

test("what is told is told in order, a slow message first; the program gets no other variable", async () => {
  const script = `case "$*" in *RELOADING*) sleep 0.3 ;; esac; echo "$*$SECRET" >>"${dir}/said"`;
  const notifier = takeNotifier(program(script), 1, PATIENT_MS);
  const all = [notifier.tell("RELOADING=1"), notifier.tell("READY=1", "STATUS=a b")];
  expect(await Promise.all(all)).toEqual([undefined, undefined]);
  expect(said()).toEqual(["RELOADING=1", "READY=1 STATUS=a b"]);
});

test.for([
  ["exit 3", "systemd-notify ended with 3", "it refuses", PATIENT_MS],
  ["exec sleep 60", "systemd-notify ended with SIGKILL", "nobody reads the socket", 200],
  ["sleep 60", "systemd-notify ended with SIGKILL", "its child is not waited for either", 200],
] as const)("%s: %s, because %s", async ([script, why, , patienceMs]) => {
  const notifier = takeNotifier(program(script), 1, patienceMs);
  expect(await notifier.tell("READY=1")).toBe(why);
  expect(await notifier.tell("READY=1"), "the next one is tried").toBe(why);
});

test("a program that is missing, or a word that no argument may hold, is a reason, not a failure", async () => {
  const nowhere = { PATH: join(dir, "nowhere"), NOTIFY_SOCKET: join(dir, "notify") };
  expect(await takeNotifier(nowhere, 1).tell("READY=1")).toContain("ENOENT");
  expect(await takeNotifier(program("exit 0"), 1).tell("STATUS=\0")).toContain("null bytes");
});

test.for([
  [{ WATCHDOG_USEC: "120000000" }, 120_000, "older managers name no process"],
  [{ WATCHDOG_USEC: "120000000", WATCHDOG_PID: "1" }, 120_000, "it is ours"],
  [{ WATCHDOG_USEC: "120000000", WATCHDOG_PID: "2" }, undefined, "it is another's"],
  [{}, undefined, "nobody watches"],
  [{ WATCHDOG_USEC: "0" }, undefined, "nobody watches"],
  [{ WATCHDOG_USEC: "soon" }, undefined, "what is not understood is not fed"],
] as const)("%o is a watchdog of %s ms: %s", ([env, ms]) => {
  expect(takeNotifier({ NOTIFY_SOCKET: "/x", ...env }, 1).watchdogMs).toBe(ms);
});
