/** Nothing that is still open keeps the process from ending. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const LEAVE = fileURLToPath(new URL("../../../src/cli/exit.ts", import.meta.url));
const PROCESS_CONTEXT = fileURLToPath(new URL("../../../src/cli/run-program.ts", import.meta.url));

/** A process that does `before` and leaves with 3. */
function leaving(before: string) {
  return running(`import { leave } from ${JSON.stringify(LEAVE)};
    ${before};
    await leave(3, AbortSignal.abort());`);
}

/** A process that does `before`, is asked to stop, does not, and is asked once more. */
function askedTwice(before: string) {
  return running(`import { contextOfProcess } from ${JSON.stringify(PROCESS_CONTEXT)};
    contextOfProcess().stopping();
    setInterval(() => {}, 1_000);
    ${before};
    for (let times = 0; times < 2; times++) process.kill(process.pid, "SIGINT");`);
}

function running(text: string) {
  const program = `import { open } from "node:fs/promises";
    ${text}`;
  const words = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", program];
  const { status, signal, stderr, stdout } = spawnSync(process.execPath, words, {
    encoding: "utf8",
    timeout: 200_000,
    killSignal: "SIGKILL",
  });
  return { end: status ?? signal, stderr, stdout };
}

/** To open one for reading hangs until someone writes. */
function aPipe(): string {
  const dir = mkdtempSync(join(tmpdir(), "scanferry-leave-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  execFileSync("mkfifo", [join(dir, "pipe")]);
  return JSON.stringify(join(dir, "pipe"));
}

test("it says all it has to say and ends with its code, whatever is open", () => {
  const { end, stdout } = leaving(`setInterval(() => {}, 1_000);
    process.stdout.write("x".repeat(1_000_000))`);
  expect(end).toBe(3);
  expect(stdout).toHaveLength(1_000_000);
});

test("it waits for a call to the file system that returns", () => {
  const { end, stderr } = leaving(`const path = ${aPipe()};
    open(path, "r").catch(() => {});
    setTimeout(() => open(path, "w").catch(() => {}), 200)`);
  expect(end).toBe(3);
  expect(stderr).toBe("");
});

test("a call that hangs would keep it for ever: it kills itself and says so", () => {
  const { end, stderr } = leaving(`open(${aPipe()}, "r").catch(() => {})`);
  expect(end).toBe("SIGKILL");
  expect(stderr).toMatch(/^scanferry: a file system does not answer, .*\n$/);
});

test("asked twice to stop, it ends as a fault", () => {
  expect(askedTwice("")).toMatchObject({ end: 130, stderr: "" });
});

test("asked twice to stop, it ends although a call hangs", () => {
  expect(askedTwice(`open(${aPipe()}, "r").catch(() => {})`).end).toBe("SIGKILL");
});
