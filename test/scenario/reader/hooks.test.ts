/** Hooks as their reader runs them: real processes, of every bad habit. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { HookEnd, HookOrder } from "../../../src/reader/protocol.ts";
import { runHook } from "../../../src/reader/run-hook.ts";
import { type Clock, systemClock } from "../../../src/std/clock.ts";
import { until } from "../../fixtures/until.ts";
import { scratch } from "../../unit/source/scratch.ts";
import { isAlive, MIRROR, openReader, silentArchive } from "./a-reader.ts";

/** A script of the shell, as a program; `$D` is a directory of the test's own. */
function script(text: string): { readonly program: string; readonly dir: string } {
  const dir = scratch();
  const program = join(dir, "hook");
  writeFileSync(program, `#!/bin/sh\nD=${dir}\n${text}\n`);
  chmodSync(program, 0o755);
  return { program, dir };
}

const order = (program: string, set: Partial<HookOrder> = {}): HookOrder => {
  return { command: [program], timeoutMs: 50_000, input: "{}", outputBytesMax: 1_000, ...set };
};

const run = (given: HookOrder, clock = systemClock) => runHook(given, () => () => {}, clock);

const shownEnd = (end: HookEnd) =>
  "failure" in end ? end.failure : Buffer.from(end.output).toString();

describe("how a hook ends", () => {
  test.for([
    ["cat", "{}", "what it wrote is its answer"],
    ["exit 3", "ended with exit code 3", "that is a failure"],
    ["echo '{}'; exit 3", "ended with exit code 3", "whatever it wrote"],
    ["echo no >&2; echo ' way' >&2; exit 1", "ended with exit code 1: no way", "it says why"],
    ["kill -9 $$", "was ended by SIGKILL", "by someone else"],
    ["exec 0<&-; echo '{}'", "{}\n", "nobody has to read the question"],
    ["yes", "wrote more than 1000 bytes", "without an end"],
    ["yes >&2 & sleep 0.1; kill $!; echo '{}'", "{}\n", "its standard error may be long"],
    ["echo '{}'; sleep 60 &", "{}\n", "a child that holds its output open is not waited for"],
  ] as const)("%s: %s, because %s", async ([text, said]) => {
    expect(shownEnd(await run(order(script(text).program)))).toBe(said);
  });

  test("that its reader stood still as it ended loses nothing of what it said", async () => {
    const { program, dir } = script(
      "(until [ -e $D/asked ]; do sleep 0.01; done; echo '{}'; : > $D/written) & exit 0",
    );
    const clock: Clock = {
      ...systemClock,
      alarm(ms, notify) {
        if (ms !== 500) return systemClock.alarm(ms, notify);
        // Its end is known, and the event loop does not turn before all is written and the time over.
        const timer = setTimeout(notify, 1);
        writeFileSync(join(dir, "asked"), "");
        execFileSync("sh", ["-c", `until [ -e ${dir}/written ]; do sleep 0.01; done`]);
        return () => clearTimeout(timer);
      },
    };
    expect(shownEnd(await run(order(program), clock))).toBe("{}\n");
  });

  test("a question of any size, read or not", async () => {
    const input = "x".repeat(3_000_000);
    const { program } = script("wc -c");
    expect(shownEnd(await run(order(program, { input }))).trim()).toBe("3000000");
    expect(shownEnd(await run(order(script("true").program, { input })))).toBe("");
  });

  test("where no answer is wanted, it writes as much as it likes", async () => {
    const { program, dir } = script("head -c 3000000 /dev/zero; : > $D/written");
    const end = await run(order(program, { outputBytesMax: null }));
    expect(shownEnd(end)).toBe("");
    expect(existsSync(join(dir, "written"))).toBe(true);
  });

  test("what it says on its standard error is kept short, and is one plain line", async () => {
    const { program } = script(`printf 'a\\033[31m\\n%0900d end' 7 >&2; exit 1`);
    const said = shownEnd(await run(order(program)));
    expect(said).toMatch(/^ended with exit code 1: 0+7 end$/);
    expect(said.length).toBeLessThan(540);
  });

  test.for([
    ["/nowhere/hook", /cannot be started: .*ENOENT/, "not there"],
    [
      "no-such-hook-4711",
      /cannot be started: .*(?:ENOENT|EACCES)/,
      "nowhere in PATH that may be read",
    ],
    ["/etc", /cannot be started: .*EACCES/, "no file"],
    ["/etc/passwd", /cannot be started: .*EACCES/, "no program"],
    ["a\0b", /cannot be started: /, "no name"],
  ] as const)("the program %j: %s, %s", async ([program, said]) => {
    expect(shownEnd(await run(order(program)))).toMatch(said);
  });

  test("words go to it as they are: no shell reads them", async () => {
    const { program } = script(`printf '%s|' "$@"`);
    const words = ["a b", "$(touch /tmp/x)", "*", "", "`id`", ";", "'"];
    const end = await run(order(program, { command: [program, ...words] }));
    expect(shownEnd(end)).toBe(words.map((word) => `${word}|`).join(""));
  });
});

describe("nothing of it stays", () => {
  const childOf = (dir: string) =>
    until("its child", () => {
      const text = existsSync(join(dir, "child")) ? readFileSync(join(dir, "child"), "utf8") : "";
      return text.endsWith("\n") ? Number(text) : undefined;
    });

  test("one that hangs is killed in time, with its children, deaf ones too", async () => {
    const { program, dir } = script(
      `trap '' TERM INT HUP; (trap '' TERM INT HUP; sleep 60) & echo $! > $D/child; wait`,
    );
    // However long a shell takes to start here: the time is over when its child is there.
    const clock: Clock = {
      ...systemClock,
      alarm(ms, notify) {
        if (ms !== 400) return systemClock.alarm(ms, notify);
        void childOf(dir).then(notify, notify);
        return () => {};
      },
    };
    const end = await run(order(program, { timeoutMs: 400 }), clock);
    expect(shownEnd(end)).toBe("did not end within 400 ms");
    const child = await childOf(dir);
    await until("the child's end", () => !isAlive(child));
  });

  test("what it leaves behind ends with it", async () => {
    const { program, dir } = script(
      `sleep 60 </dev/null >/dev/null 2>&1 & echo $! > $D/child; echo '{}'`,
    );
    expect(shownEnd(await run(order(program)))).toBe("{}\n");
    const child = await childOf(dir);
    await until("the child's end", () => !isAlive(child));
  });

  test.for([
    ["its reader is killed", "SIGKILL"],
    ["the daemon closes the reader", "close"],
  ] as const)("when %s, it ends", async ([, how]) => {
    const { reader } = openReader();
    const { program, dir } = script("echo $$ > $D/child; sleep 60");
    const asked = reader.hook(order(program));
    asked.catch(() => {});
    const child = await childOf(dir);
    // What the reader has told about the hook by now comes before this answer.
    await reader.status(MIRROR);
    if (how === "close") await reader.close();
    else process.kill(reader.pid ?? 0, how);
    await expect(asked).rejects.toThrow();
    await until("the hook's end", () => !isAlive(child));
  });
});

describe("a reader's rights", () => {
  test("its user, a directory that is no source, and an environment without a secret", async () => {
    const secret = "canary-hook-4711";
    const { settings } = await silentArchive(secret);
    process.env["SCANFERRY_ACCOUNT_KEY"] = secret;
    process.env["SCANFERRY_SIGNING_SECRET"] = secret;
    process.env["SOME_PASSWORD"] = secret;
    try {
      const { reader } = openReader({ archive: () => settings });
      const { program } = script(
        "id -u; pwd; env; tr '\\0' ' ' < /proc/self/cmdline; ls /proc/$$/fd",
      );
      const said = shownEnd(await reader.hook(order(program, { outputBytesMax: 100_000 })));
      const [user, cwd, ...rest] = said.split("\n");
      expect(user).toBe(String(process.getuid?.()));
      expect(cwd).toBe("/");
      expect(said).not.toContain(secret);
      const names = rest.flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? []);
      const allowed = ["PATH", "TZ", "LANG", "LC_ALL", "TMPDIR", "PWD", "SHLVL", "_", "OLDPWD"];
      expect(names.filter((name) => !allowed.includes(name))).toEqual([]);
      expect(names).toContain("PATH");
      // Its script and the three that are its own: the line to the daemon is not among them.
      expect(rest.filter((line) => /^\d+$/.test(line)).length).toBeLessThanOrEqual(4);
    } finally {
      delete process.env["SCANFERRY_ACCOUNT_KEY"];
      delete process.env["SCANFERRY_SIGNING_SECRET"];
      delete process.env["SOME_PASSWORD"];
    }
  });
});
