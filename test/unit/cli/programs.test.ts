import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { examinePrograms } from "../../../src/cli/check/programs.ts";
import type { Config, Mirror } from "../../../src/config/config.ts";

test.for([
  ["there", "ok", /can be run/, "it is a program"],
  ["plain", "FAIL", /may not be run by this user/, "nobody made it one"],
  ["folder", "FAIL", /is no file/, "a folder is none"],
  ["missing", "FAIL", /is not there/, "nobody put it there"],
] as const)("check of the program %s: %s", ([name, level, what]) => {
  const dir = mkdtempSync(join(tmpdir(), "hooks-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  mkdirSync(join(dir, "folder"));
  for (const file of ["there", "plain"]) writeFileSync(join(dir, file), "#!/bin/sh\n");
  chmodSync(join(dir, "there"), 0o755);
  const running = { timeoutMs: 1, concurrency: 1 };
  // By its whole path, and by its name in PATH.
  const hooks = {
    before: {
      ...running,
      command: [join(dir, name)],
      onFailure: "hold",
      afterVeto: { kind: "keep" },
    },
    after: { ...running, command: [name] },
  } as const;
  const mirrors = [{ name: "scans", hooks } as unknown as Mirror];
  const channel = { by: "command", name: "pager", run: [name], cwd: dir, events: [] };
  const notify = { channels: [channel] } as unknown as Config["notify"];
  const findings = [...examinePrograms({ mirrors, notify }, `/nowhere:${dir}`)];
  expect(findings.map((finding) => finding.level)).toEqual([level, level, level]);
  expect(findings[0]?.what).toMatch(/^mirror scans: before hook /);
  expect(findings[1]?.what).toMatch(/^mirror scans: after hook /);
  expect(findings[2]?.what).toMatch(/^notify pager: /);
  for (const finding of findings) expect(finding.what).toMatch(what);
});
