import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { CommandChannel } from "../../../src/notify/command-channel.ts";
import { until } from "../../fixtures/until.ts";
import { scratch } from "../journal/scratch.ts";
import { aBody } from "./a-body.ts";

const never = new AbortController().signal;
const channel = (cwd: string, ...run: string[]) =>
  new CommandChannel({ by: "command", name: "command", events: [], run, cwd });

test("the program gets the message on its input, and its arguments as they are", async () => {
  using directory = scratch();
  const script = 'cat > got.json; printf "%s" "$1" > argument';
  await channel(directory.path, "sh", "-c", script, "sh", "$(id) ; rm").send(aBody(), never);
  expect(JSON.parse(readFileSync(join(directory.path, "got.json"), "utf8"))).toEqual(aBody());
  expect(readFileSync(join(directory.path, "argument"), "utf8")).toBe("$(id) ; rm");
});

test("it gets no secret from the environment", async () => {
  using directory = scratch();
  vi.stubEnv("SCANFERRY_ACCOUNT_KEY", "canary-key");
  onTestFinished(() => void vi.unstubAllEnvs());
  await channel(directory.path, "sh", "-c", "env > env").send(aBody(), never);
  const env = readFileSync(join(directory.path, "env"), "utf8");
  expect(env).toContain("PATH=");
  expect(env).not.toContain("canary");
});

test.for([
  ["exit 3", "sh ended with exit code 3", "it says that it failed"],
  ["kill -TERM $$", "sh ended with SIGTERM", "somebody ended it"],
  ["exec 0<&-; exit 0", undefined, "it need not read"],
] as const)("%s gives %s: %s", async ([script, reason]) => {
  using directory = scratch();
  const sending = channel(directory.path, "sh", "-c", script).send(aBody(), never);
  if (reason === undefined) await sending;
  else await expect(sending).rejects.toThrow(reason);
});

test("a program that is not there is a reason like any other", async () => {
  using directory = scratch();
  await expect(channel(directory.path, "/nowhere/tell").send(aBody(), never)).rejects.toThrow(
    "/nowhere/tell is not there",
  );
});

test("when the time is over it ends with all that it started", async () => {
  using directory = scratch();
  const over = new AbortController();
  const pidFile = join(directory.path, "pid");
  const script = "sleep 600 & echo $! > pid.new; mv pid.new pid; wait";
  const sending = channel(directory.path, "sh", "-c", script).send(aBody(), over.signal);
  const pid = await until("its child", () => {
    try {
      return Number(readFileSync(pidFile, "utf8"));
    } catch {
      return undefined;
    }
  });
  over.abort(new Error("too long"));
  await expect(sending).rejects.toThrow("too long");
  await until("the child's end", () => !isAlive(pid));
});

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
