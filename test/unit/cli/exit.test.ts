import { expect, test } from "vitest";
import { ArchiveError } from "../../../src/archive/archive-error.ts";
import { clause, endingOf, UsageError } from "../../../src/cli/exit.ts";
import { ConfigError } from "../../../src/config/config-error.ts";
import { Fault } from "../../../src/std/fault.ts";
import { InvariantError } from "../../../src/std/invariant.ts";

const problem = (key: string) => ({
  file: "/c.yaml",
  key,
  line: 3,
  message: "is bad",
  mend: "mend it",
});

test.for([
  [new UsageError("no such mirror"), 2, "the arguments cannot be used"],
  [new ConfigError([problem("a"), problem("b"), problem("c")]), 2, "nor can the configuration"],
  [new Fault("JOURNAL_LOCKED", "in use", "Stop the other."), 1, "a fault is a fault"],
  [new Fault("SIGNING_MODULE_UNFIT", "no export", "Export."), 2, "the configuration names it"],
  [new ArchiveError("refused", "DOC_NOT_EXIST", "no"), 1, "the archive said no"],
  [new ArchiveError("invalid", "INVALID_BATCH", "too long"), 2, "nothing was sent: own parameters"],
  [new InvariantError("impossible"), 1, "a bug is no usage error"],
  ["thrown text", 1, "whatever is thrown"],
] as const)("%s ends with %i: %s", ([error, code]) => {
  expect(endingOf(error).code).toBe(code);
});

test("every problem of a configuration has a line with file, key and mend", () => {
  const { lines } = endingOf(new ConfigError([problem("a"), problem("b"), problem("c")]));
  expect(lines).toEqual([
    "scanferry: /c.yaml:3: a: is bad; mend it",
    "scanferry: /c.yaml:3: b: is bad; mend it",
    "scanferry: /c.yaml:3: c: is bad; mend it",
  ]);
});

test("a fault is one line, whatever its message holds", () => {
  const { lines } = endingOf(new Fault("X", "first\nsecond \u001b[31mred", "Do this.\nThen that."));
  expect(lines).toEqual(["scanferry: first second \\x1b[31mred; do this. Then that"]);
});

test("an archive's code is told even where its message does not hold it", () => {
  const { lines } = endingOf(new ArchiveError("notSent", "ARCHIVE_UNREACHABLE", "refused"));
  expect(lines[0]).toMatch(/^scanferry: ARCHIVE_UNREACHABLE: refused; check/);
});

test.for([
  ["Check the disk.", "check the disk", "a sentence becomes a clause"],
  ["SIGHUP reloads it.", "SIGHUP reloads it", "a name keeps its capitals"],
  ["`journal` is wrong.", "`journal` is wrong", "code stays as it is"],
] as const)("the hint %j is told as %j: %s", ([hint, said]) => {
  expect(clause(hint)).toBe(said);
});
