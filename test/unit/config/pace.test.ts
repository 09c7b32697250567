/** The keys that hold sending, the journal and the log within bounds. */
import { expect, test } from "vitest";
import type { Config } from "../../../src/config/config.ts";
import { ConfigFolder, LEAST } from "./config-folder.ts";

const YEAR_MS = 31_536_000_000;

test.for([
  ["", { bytesPerSecond: undefined, hours: undefined }, "neither is limited on its own"],
  ["upload: { bandwidth: 2MB }", { bytesPerSecond: 2_000_000 }, "the contract's sizes"],
  ["upload: { bandwidth: 10MiB }", { bytesPerSecond: 10_485_760 }, "1024s, as disks count"],
  ["upload: { bandwidth: 1.5 MB }", { bytesPerSecond: 1_500_000 }, "a blank does no harm"],
  ["upload: { bandwidth: 64000 }", { bytesPerSecond: 64_000 }, "a number alone is bytes"],
  ['upload: { hours: "18:00-07:00" }', { hours: [{ from: 1080, to: 420 }] }, "over midnight"],
  ["upload: { hours: 9:05-24:00 }", { hours: [{ from: 545, to: 1440 }] }, "plain text in YAML"],
  [
    'upload: { hours: "18:00-07:00, 12:00-13:00" }',
    {
      hours: [
        { from: 1080, to: 420 },
        { from: 720, to: 780 },
      ],
    },
    "several",
  ],
] as const)("%s: %o (%s)", async ([line, upload]) => {
  expect((await loaded(line)).upload).toMatchObject(upload);
});

test("a journal is a file alone, as ever, or has keys", async () => {
  const plain = await loaded("journal: ./j.db");
  expect(plain.journal).toMatch(/\/j\.db$/);
  expect(plain.retention).toBeUndefined();
  const kept = await loaded("journal: { path: ./j.db, retain: 3y }");
  expect(kept.journal).toMatch(/\/j\.db$/);
  expect(kept.retention).toEqual({ retainMs: 3 * YEAR_MS, rememberMs: 30 * YEAR_MS });
  const elsewhere = await loaded("journal: { retain: 90d, remember: 5y }");
  expect(elsewhere.journal).toBe("/var/lib/scanferry/journal.db");
  expect(elsewhere.retention).toEqual({ retainMs: 7_776_000_000, rememberMs: 5 * YEAR_MS });
});

test("a log has a file of its own only where one is named", async () => {
  expect((await loaded("log: { keep: { files: 2 } }")).log.file).toBeUndefined();
  const { log } = await loaded("log: { file: ./s.log, keep: { size: 1MiB, files: 2 } }");
  expect(log.file).toMatchObject({ sizeBytesMax: 1_048_576, olderMax: 2 });
  expect(log.file?.path.endsWith("/s.log")).toBe(true);
});

test("a ceiling of documents under conversion is one where it is given", async () => {
  expect((await loaded("")).conversion.outstandingMax).toBeUndefined();
  const { conversion } = await loaded("conversion: { maxOutstanding: 50 }");
  expect(conversion.outstandingMax).toBe(50);
});

test.for([
  [
    "upload: { bandwidth: 2MB/s }",
    'upload.bandwidth: "2MB/s" is not a size; write bytes alone, e.g. 2MB',
    "it is a second anyhow",
  ],
  [
    "upload: { bandwidth: fast }",
    'upload.bandwidth: "fast" is not a size; write 512KB, 2MB or 10MiB',
    "how fast?",
  ],
  [
    "upload: { bandwidth: 0 }",
    "upload.bandwidth: 0 is too small; write 1KB or more",
    "nothing would ever be sent",
  ],
  [
    "upload: { hours: 18-7 }",
    'upload.hours: "18-7" is no window of hours; write windows such as "18:00-07:00" or "18:00-07:00, 12:00-13:00"',
    "minutes are told",
  ],
  [
    'upload: { hours: "25:00-07:00" }',
    'upload.hours: "25:00-07:00" names a time that no clock shows; write windows such as "18:00-07:00" or "18:00-07:00, 12:00-13:00"',
    "no such hour",
  ],
  [
    'upload: { hours: "08:00-08:00" }',
    'upload.hours: "08:00-08:00" is no time at all; write 00:00-24:00, or leave the key out, to send at all hours',
    "never, or always?",
  ],
  [
    'upload: { hours: "" }',
    'upload.hours: "" is no window of hours; write windows such as "18:00-07:00" or "18:00-07:00, 12:00-13:00"',
    "never?",
  ],
  [
    "conversion: { maxOutstanding: 0 }",
    "conversion.maxOutstanding: 0 is out of bounds; write a whole number from 1 to 1000000",
    "nothing would ever be sent",
  ],
  [
    "journal: { file: /j.db }",
    "journal.file: unknown key; it belongs under log",
    "right word, wrong place",
  ],
  [
    "journal: { retain: 3 years }",
    'journal.retain: "3 years" is not a duration; write 3s, 200ms, 5m, 6h or 7d',
    "one way to write it",
  ],
  [
    "journal: { retain: 1h }",
    'journal.retain: "1h" is too short; write 1d or more',
    "a journal that forgets at once explains nothing",
  ],
  [
    "log: { file: /srv/scans/s.log }",
    'log.file: "/srv/scans/s.log" lies in the source of mirrors[0], which would send it; keep it outside, e.g. /var/log/scanferry/scanferry.log',
    "every line would make it another document",
  ],
  [
    "log: { keep: { size: 5 } }",
    "log.keep.size: 5 is too small; write 64KB or more",
    "bytes, not megabytes",
  ],
] as const)("%s is refused: %s (%s)", async ([line, problem]) => {
  using folder = new ConfigFolder(`${LEAST}${line}\n`);
  expect((await folder.problems()).map((text) => text.replace("scanferry.yaml:3: ", ""))).toEqual([
    problem,
  ]);
});

async function loaded(line: string): Promise<Config> {
  using folder = new ConfigFolder(`${LEAST}${line}\n`);
  return await folder.load();
}
