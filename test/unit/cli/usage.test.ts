/** What cannot be meant is told in one line and ends with 2; nothing is printed to stdout. */
import { describe, expect, test } from "vitest";
import { linesOf, scanferry, Sink } from "./in-process.ts";

test.for([
  [[], /no command/, "help on stdout would end up in somebody's pipe"],
  [["lsit"], /unknown command 'lsit'.*list/, "a typo names the command that was meant"],
  [
    ["help", "bogus"],
    /^scanferry: unknown command 'bogus'; see scanferry --help$/,
    "help of nothing",
  ],
  [["help", "stauts"], /unknown command 'stauts'; did you mean status\?$/, "the same typo"],
  [["notify"], /notify needs a command: one of test$/, "what it can do is named"],
  [["--config", "x.yaml"], /no command given/, "a file alone is none"],
  [["retry", "--state", "x"], /choices are held, failed; see --help$/, "one sentence, one stop"],
  [["list", "--jsno"], /unknown option '--jsno'.*--json/, "the same for options"],
  [["list", "--state", "gone"], /settling, pending/, "the states are named"],
  [["explain"], /missing required argument 'path'/, "there is nothing to explain"],
  [["status", "extra"], /too many arguments/, "what is not read is not ignored"],
  [["serve-archive"], /--data/, "an archive needs a place"],
  [["serve-archive", "--data", "x", "--listen", "8471"], /HOST:PORT/, "a port alone is no address"],
  [["serve-archive", "--data", "x", "--account", "key"], /KEY:SECRET/, "an account has two parts"],
  [
    ["serve-archive", "--data", "x", "--account", "a:b", "--account", "a:c"],
    /key of its own/,
    "an account is known by its key",
  ],
  [["serve-archive", "--data", "x", "--folder", "/A//B"], /empty names/, "a folder has a name"],
  [
    ["serve-archive", "--data", "/dev/null"],
    /--data: \/dev\/null cannot be used \(ENOTDIR\)/,
    "a file is no directory",
  ],
  [
    ["serve-archive", "--data", "/dev/null/x"],
    /--data: \/dev\/null\/x cannot be used \(ENOTDIR\)/,
    "nor holds one",
  ],
  [["serve-archive", "--data", "x", "--convert-delay", "1"], /500ms/, "a duration has a unit"],
  [["serve-archive", "--data", "x", "--error-http", "500"], /200, 400/, "the choices are named"],
  [["serve-archive", "--data", "x", "--max-file-size", "ten"], /10MB/, "a size is a number"],
  [["demo", "--port", "99999"], /'--port <n>'.* from 0 to 65535/, "the option is named, no file"],
  [["journal", "copy", "--from", "a.db"], /--to/, "a copy needs a place"],
  [["journal", "copy", "--from", "a.db", "--to", "./a.db"], /same journal/, "a copy is another"],
  [["journal", "copy", "--from", "a", "--to", "postgres://h"], /--to .*USER@HOST/, "it is mended"],
  [["archive"], /search, documents, digidoc/, "the operations are named"],
  [["archive", "serach"], /no operation serach/, "an operation that does not exist"],
  [["archive", "document"], /--id/, "a document is known by its id"],
  [["archive", "document", "x"], /whole number/, "an id is a number"],
  [["archive", "folders", "1", "--folder-id", "2"], /twice/, "it cannot be both"],
  [["archive", "documents", "--sort-desc", "yes"], /true or false/, "a flag is one of two"],
  [["archive", "upload", "/nowhere/x.pdf"], /cannot be opened \(ENOENT\)/, "a file to send exists"],
  [["archive", "upload", "/"], /not a file/, "a directory cannot be sent"],
  [["archive", "upload", "a", "b", "--folder-id", "3"], /too many arguments/, "one file a request"],
  [["archive", "search", "hello", "world"], /too many arguments/, "words are quoted, not dropped"],
  [["archive", "document", "1", "2"], /too many arguments/, "nor is an id dropped"],
] as const)("%j is refused with %s: %s", async ([args, line]) => {
  const { code, stdout, stderr } = await scanferry(args);
  expect(linesOf(stderr)).toEqual([expect.stringMatching(line)]);
  expect(stderr).toMatch(/^scanferry: /);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
});

const COMMANDS =
  "init check plan run sync status list explain retry pause resume verify backup restore journal archive serve-archive demo".split(
    " ",
  );
const OPERATIONS = ["search", "documents", "digidoc", "document", "folders", "folder", "upload"];

describe("help", () => {
  test.for([...COMMANDS.map((name) => [name]), ...OPERATIONS.map((name) => ["archive", name])])(
    "%j has help with an example, and needs no configuration for it",
    async (words) => {
      const { code, stdout, stderr } = await scanferry([...words, "--help"]);
      expect(stdout).toMatch(/Examples?:\n {2}scanferry /);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    },
  );

  test("names every command", async () => {
    const { code, stdout } = await scanferry(["--help"]);
    for (const name of COMMANDS) expect(stdout).toMatch(new RegExp(`^ {2}${name}\\b`, "m"));
    expect(code).toBe(0);
  });

  test("breaks its lines where they end", async () => {
    const { stdout } = await scanferry(["--help"], { stdout: new Sink(true) });
    const lines = linesOf(stdout);
    for (const [at, line] of lines.entries()) {
      const [word = ""] = lines[at + 1]?.trim().split(" ") ?? [];
      const goesOn = /^ {10,}\S/.test(lines[at + 1] ?? "");
      if (goesOn) expect(line.length + 1 + word.length, line).toBeGreaterThan(80);
    }
  });

  test("the version goes to stdout", async () => {
    const { code, stdout } = await scanferry(["--version"]);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(code).toBe(0);
  });
});
