/** What a reader is given of this process's environment. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { forkReader, prepareReader } from "../../../src/reader/fork-reader.ts";
import { childrenOf } from "../../fixtures/a-process.ts";
import { stalledPipe } from "../../fixtures/stalled-pipe.ts";
import { until } from "../../fixtures/until.ts";

test("what concerns the network is given, certificates in full, since it works in other directories", async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("SSL_CERT_DIR", "certs:/etc/certs:");
  vi.stubEnv("SSL_CERT_FILE", "");
  vi.stubEnv("NODE_USE_SYSTEM_CA", "1");
  // Only what Node takes together: a process that it refuses to start is seen by chance.
  vi.stubEnv("NODE_OPTIONS", "--tls-cipher-list DEFAULT --max-old-space-size=4000 --tls-min-v1.3");
  vi.stubEnv("HTTPS_PROXY", "http://u:kept@proxy.example.com");
  vi.stubEnv("SCANFERRY_SECRET", "kept");
  const child = forkReader();
  // Between fork and exec a process has neither.
  const partsOf = (file: string) =>
    until("the process runs", () => {
      const parts = contentOf(`/proc/${child.pid}/${file}`).split("\0");
      return parts.length > 1 ? parts : undefined;
    });
  const words = await partsOf("cmdline");
  const there = await partsOf("environ");
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(there).toContain(`SSL_CERT_DIR=${process.cwd()}/certs:/etc/certs:`);
  expect(there).toContain("SSL_CERT_FILE=");
  expect(there).toContain("MALLOC_ARENA_MAX=2");
  expect(there).toContain("NODE_USE_SYSTEM_CA=1");
  expect(there.join()).not.toContain("kept");
  expect(words).toEqual(expect.arrayContaining(["--tls-cipher-list=DEFAULT", "--tls-min-v1.3"]));
  expect(words.join()).not.toContain("max-old-space");
});

function contentOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

test("started where both outputs are one pipe, it does not make that block", async () => {
  const file = JSON.stringify(
    fileURLToPath(new URL("../../../src/reader/fork-reader.ts", import.meta.url)),
  );
  const program = `import { readFileSync } from "node:fs";
    import { forkReader } from ${file};
    const flags = () => parseInt(/flags:\\s+(\\d+)/.exec(readFileSync("/proc/self/fdinfo/1", "utf8"))[1], 8);
    process.stdout.write("");
    process.stderr.write("");
    const child = forkReader();
    const { O_NONBLOCK } = (await import("node:fs")).constants;
    console.log((flags() & O_NONBLOCK) !== 0);
    child.kill("SIGKILL");`;
  const words = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", program];
  using pipe = stalledPipe();
  pipe.read();
  const child = spawn(process.execPath, words, {
    stdio: ["ignore", pipe.descriptor, pipe.descriptor],
  });
  await once(child, "exit");
  expect(pipe.read()).toBe("true\n");
});

describe("a reader that was started ahead", () => {
  const isAlive = ({ exitCode, signalCode }: ChildProcess) =>
    exitCode === null && signalCode === null;

  test("is taken once, and stays when what prepared it is over", async () => {
    const prepared = prepareReader();
    const [first, second] = [forkReader(), forkReader()];
    prepared[Symbol.dispose]();
    expect(first.pid).toBeLessThan(second.pid ?? 0);
    first.send([{ call: 1, method: "ping", parameters: [] }]);
    await once(first, "message");
    expect([first, second].map(isAlive)).toEqual([true, true]);
    for (const child of [first, second]) await killed(child);
  });

  test("ends with what prepared it, where nobody took it", async () => {
    const before = childrenOf(process.pid);
    const prepared = prepareReader();
    expect(childrenOf(process.pid)).toHaveLength(before.length + 1);
    prepared[Symbol.dispose]();
    await until("its end", () => childrenOf(process.pid).length === before.length);
    await killed(forkReader());
  });

  test("has died: another one is started", async () => {
    using _prepared = prepareReader();
    const pid = childrenOf(process.pid).at(-1) ?? 0;
    process.kill(pid, "SIGKILL");
    await until("its end", () => !childrenOf(process.pid).includes(pid));
    const child = forkReader();
    expect(child.pid).not.toBe(pid);
    expect(child.connected).toBe(true);
    await killed(child);
  });
});

async function killed(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "exit");
}
