/** What looks for secrets must find them, or every other search says nothing. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CANARY, leakLine, leaksBelow, leaksIn, leaksInFile } from "../fixtures/canary.ts";

const { accountKey, signingSecret, webToken } = CANARY;

function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), "scanferry-canary-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

test.for<[string, string | Buffer, string, string]>([
  ["as it is", `key=${accountKey}&`, "accountKey", "a log line"],
  ["percent-encoded", encodeURIComponent(signingSecret), "signingSecret", "a URL"],
  ["in a form", new URLSearchParams({ s: signingSecret }).toString(), "signingSecret", "a body"],
  ["in hex", Buffer.from(`x${webToken}`).toString("hex"), "webToken", "a dump"],
  ["in UTF-16", Buffer.from(webToken, "utf16le"), "webToken", "a heap's strings"],
  ["in Base64", Buffer.from(`a:${signingSecret}`).toString("base64"), "signingSecret", "a header"],
  [
    "in Base64, one on",
    Buffer.from(`ab:${accountKey}`).toString("base64"),
    "accountKey",
    "a header",
  ],
  ["in Base64, two on", Buffer.from(`b${webToken}.`).toString("base64"), "webToken", "a header"],
])("a secret %s is found, as in %s", ([, content, secret]) => {
  expect(leaksIn("here", content).map((leak) => leak.secret)).toContain(secret);
});

test("what holds none is not accused", () => {
  expect(leaksIn("here", "canary-key-, canary-secret- and canary-token-")).toEqual([]);
});

test("in a large file it is found wherever it lies, also across two pieces", () => {
  const path = join(scratch(), "large");
  for (const at of [0, 1024 * 1024 - 7, 1024 * 1024, 2 * 1024 * 1024 - 1, 3 * 1024 * 1024]) {
    writeFileSync(path, Buffer.concat([Buffer.alloc(at, 0x2e), Buffer.from(webToken)]));
    expect(leaksInFile(path), String(at)).toHaveLength(1);
  }
});

test("in a tree, names count too, and what is skipped does not", () => {
  const dir = scratch();
  mkdirSync(join(dir, "secrets"));
  writeFileSync(join(dir, "secrets", "token"), webToken);
  writeFileSync(join(dir, `scan-${accountKey}.pdf`), "");
  writeFileSync(join(dir, "log"), `… ${signingSecret} …`);
  expect(
    leaksBelow(dir, /^secrets(\/|$)/)
      .map(leakLine)
      .sort(),
  ).toEqual([
    `the accountKey (plain) stands in the name scan-${accountKey}.pdf`,
    `the signingSecret (plain) stands in ${join(dir, "log")}`,
  ]);
  expect(leaksBelow(dir).map(({ secret }) => secret)).toContain("webToken");
});
