import { expect, test } from "vitest";
import { ConfigFolder } from "./config-folder.ts";

/** Whole files. */
test.for([
  ["", ["archive.url", "archive.accountKey", "archive.signing.secret", "mirrors"], "empty"],
  [
    "# nothing\n",
    ["archive.url", "archive.accountKey", "archive.signing.secret", "mirrors"],
    "empty",
  ],
  ["mirrors:\n  -\n", ["archive.url", "mirrors[0]", "archive"], "an empty entry"],
  ["[1, 2]", [""], "no mapping"],
  ["just text", [""], "no mapping"],
  ["archive: [", [""], "not YAML"],
  ["archive: &a {url: *b}", [""], "an alias of nothing"],
  ["archive: {}\n---\narchive: {}\n", [""], "two documents"],
] as const)("%j is told by %j: %s", async ([text, keys]) => {
  using folder = new ConfigFolder(text);
  const error = await folder.error({});
  const told = error?.problems.map(({ key }) => key) ?? [];
  for (const key of keys) expect(told.some((each) => each.startsWith(key))).toBe(true);
  expect(error?.lines().every((line) => !line.includes("\n"))).toBe(true);
});

test.for([
  ["\ta: 1", "1: not YAML: a tab is used as indentation; indent with blanks", "YAML forbids it"],
  [
    "a:\n\t- b: c\n    d: e",
    "2: not YAML: a tab is used as indentation; indent with blanks",
    "what follows from the tab is not told beside it",
  ],
  [
    'a: "C:\\Scans\\In"',
    "1: not YAML: an escape (\\…) in double quotes is not known; use single quotes",
    "two of a kind on one line are one",
  ],
  [
    "a: 1\nb: c: d",
    "2: not YAML: a second colon and blank on one line; put the value in quotes",
    "a classic",
  ],
  [
    "web:\n  listen: [::1]:8470",
    "2: not YAML: something stands where it cannot; put the value in quotes, or indent it",
    "a bracket begins a list",
  ],
  [
    "a: !env X",
    "1: not YAML: a tag (!…) is not known; put a value that starts with ! in quotes",
    "nothing is filled in",
  ],
  [
    "archive: [ {",
    "1: not YAML: the indentation does not fit, or a bracket is not closed; line the keys up",
    "of two brackets it is said once",
  ],
  ["? [a]\n: 1", "1: not YAML: a key is not text; write a word as the key", "keys are words"],
] as const)("%j gives line %s (%s)", async ([text, expected]) => {
  using folder = new ConfigFolder(text);
  expect(await folder.problems()).toEqual([`scanferry.yaml:${expected}`]);
});

test("a file that is no text is refused", async () => {
  using folder = new ConfigFolder();
  folder.write("scanferry.yaml", Buffer.from([0xff, 0xfe, 0x61, 0x00]));
  expect(await folder.problems()).toEqual(["scanferry.yaml: is not UTF-8 text; save it as UTF-8"]);
});

test("everything is told at once, in the order of the lines", async () => {
  using folder = new ConfigFolder(`shutdown: 3
archive:
  url: ftp://x
  timout: 3s
mirrors:
  - source: /a
    target: A
    settle: 3 s
  - source: /a/b
    targetId: -1
`);
  const error = await folder.error({});
  expect(error?.problems.map(({ line, column, key }) => [line, column, key])).toEqual([
    [1, 11, "shutdown"],
    [2, 1, "archive.accountKey"],
    [2, 1, "archive.signing.secret"],
    [3, 8, "archive.url"],
    [4, 11, "archive.timout"],
    [7, 13, "mirrors[0].target"],
    [8, 13, "mirrors[0].settle"],
    [9, 13, "mirrors[1].source"],
    [10, 15, "mirrors[1].targetId"],
  ]);
  expect(error).toMatchObject({ code: "CONFIG_INVALID" });
});
