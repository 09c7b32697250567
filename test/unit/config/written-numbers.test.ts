import { expect, test } from "vitest";
import { ConfigFolder } from "./config-folder.ts";

const AS_WRITTEN = [
  ["0815", "an invoice's number loses no zero"],
  ["1.10", "a version is no decimal"],
  ["1e3", "what looks like a power is a drawing's number"],
  ["+49", "a prefix keeps its sign"],
  ["0x1F", "a case's number is no hexadecimal"],
  ["12345678901234567890", "more digits than a number holds"],
  ["42", "a plain number is what it says"],
] as const;

test.each(AS_WRITTEN)("metadata says %s as it was written: %s", async (written) => {
  using folder = new ConfigFolder(`archive: { url: "https://archive.example.com" }
mirrors:
  - { source: /srv/scans, target: /Scans, metadata: { subject: ${written} } }
`);
  const { mirrors } = await folder.load();
  expect(mirrors[0]?.rules.metadata.subject?.source).toBe(written);
});

const REFUSED = [
  ["007", '"007" is text, not a number; write 7 without quotes', "is it octal?"],
  [
    "99999999999999999999",
    '"99999999999999999999" is out of bounds; write a whole number from 1 to 64',
    "more digits than a number holds",
  ],
  ["4.0", '"4.0" is not a whole number; write a whole number from 1 to 64', "a decimal"],
] as const;

test.each(REFUSED)("concurrency: %s says %s: %s", async (written, says) => {
  using folder = new ConfigFolder(`archive: { url: "https://archive.example.com" }
mirrors: [{ source: /srv/scans, target: /Scans }]
upload: { concurrency: ${written} }
`);
  expect(await folder.problems()).toEqual([`scanferry.yaml:3: upload.concurrency: ${says}`]);
});
