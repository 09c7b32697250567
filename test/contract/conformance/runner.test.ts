/** The runner, as it is started against any archive: what it prints, and what it ends with. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ArchiveUnderTest } from "./archive-under-test.ts";

const SCRIPT = fileURLToPath(new URL("../../../scripts/conformance.ts", import.meta.url));

async function run(...args: string[]) {
  const child = spawn(process.execPath, [SCRIPT, ...args], { stdio: ["ignore", "pipe", "ignore"] });
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return { code: code as number, lines: printed.trimEnd().split("\n") };
}

const account = ["--key", "demo", "--secret", "demo"];

test("an archive that holds to the document: every row holds, all in the folder", async () => {
  await using under = await ArchiveUnderTest.open({ errorStyle: "object", errorHttp: 400 });
  const folderId = under.archive.createFolder("/Tests/Here");
  const { code, lines } = await run(
    "--url",
    under.archive.url,
    ...account,
    "--folder-id",
    String(folderId),
  );
  expect(lines.filter((line) => !line.startsWith("holds"))).toEqual([
    expect.stringMatching(/^open {2}\| Errors, 5/),
    "",
    expect.stringMatching(/^\d{3} hold, 0 fail, 1 differ/),
  ]);
  expect(code).toBe(0);
  const places = new Set(under.archive.documents().map((document) => document.folderId));
  expect([...places]).toEqual([folderId]);
});

test("one that does not: the row says where, and the exit code is 1", async () => {
  // The runner waits for its documents by the same operation, whose state stays right.
  const faults = [{ do: "wrongDocument", on: "document", times: Infinity } as const];
  await using under = await ArchiveUnderTest.open({ faults });
  const { code, lines } = await run("--url", under.archive.url, ...account);
  expect(lines.filter((line) => line.startsWith("fails"))).toEqual([
    expect.stringMatching(/Endpoints 4, id .*instead: .*another\.pdf/),
  ]);
  expect(code).toBe(1);
});

test("without an address it says how it is used", async () => {
  expect((await run("--key", "demo")).code).toBe(2);
});
