/** What a reader is given of this process's environment. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { forkReader } from "../../../src/reader/fork-reader.ts";

test("certificates are named in full: a reader works in the directories that it looks at", async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("SSL_CERT_DIR", "certs:/etc/certs:");
  vi.stubEnv("SSL_CERT_FILE", "");
  vi.stubEnv("SCANFERRY_SECRET", "kept");
  const child = forkReader();
  const there = readFileSync(`/proc/${child.pid}/environ`, "utf8").split("\0");
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(there).toContain(`SSL_CERT_DIR=${process.cwd()}/certs:/etc/certs:`);
  expect(there).toContain("SSL_CERT_FILE=");
  expect(there).toContain("MALLOC_ARENA_MAX=2");
  expect(there.join()).not.toContain("kept");
});
