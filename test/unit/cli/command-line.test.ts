import * as fc from "fast-check";
import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { theProgram } from "../../../scripts/command-tree.ts";
import { commandsFor } from "../../../src/cli/command-table.ts";
import type { Shell } from "../../../src/cli/shell.ts";
import { linesOf, scanferry, Sink } from "./in-process.ts";
import { ArchiveError } from "../../../src/archive/archive-error.ts";
import { endingOf, Interrupted } from "../../../src/cli/exit.ts";
import { ConfigError } from "../../../src/config/config-problems.ts";
import { Stopping } from "../../../src/std/abort.ts";
import { Fault, InvariantError, UsageError } from "../../../src/std/fault.ts";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { placeOf, placesOf } from "../../../src/cli/paths.ts";
import { bytesOf, rawOf, shown, textOf } from "../../../src/std/raw-path.ts";
import { ConfigFolder } from "../config/config-folder.ts";
import { aMirror } from "../../fixtures/a-config.ts";
import { clause } from "../../../src/std/wording.ts";
import { rawArguments } from "../../../src/cli/run-program.ts";

describe("command table", () => {
  /** The names of the commands that are loaded for a command line. */
  async function loaded(...args: string[]): Promise<string[]> {
    const program = new Command();
    // Only actions look at it.
    const shell = {} as Shell;
    for (const add of await commandsFor(args)) add(program, shell);
    return program.commands.map((command) => command.name());
  }

  const all = theProgram().commands.map((command) => command.name());

  describe("of the commands is loaded", () => {
    test.for(all.filter((name) => name !== "completion"))("%s, when it is typed", async (name) => {
      const names = await loaded(name);
      expect(names).toContain(name);
      expect(names.length).toBeLessThanOrEqual(2);
    });

    test.for([
      [["--config", "list", "status"], ["status"], "a file may be called as a command is"],
      [["--config=list", "status", "--json"], ["status"], "the same in one word"],
      [["list", "status"], ["list"], "only the first word is a command"],
      [["--version"], [], "the program answers itself"],
      [["-V"], [], "the same"],
    ] as const)("for %j: %j, because %s", async ([args, names]) => {
      expect(await loaded(...args)).toEqual(names);
    });

    test.for([
      [[], "nothing is asked for"],
      [["--help"], "help names them all"],
      [["help", "status"], "help looks for it among them"],
      [["stauts"], "the nearest name is looked for"],
      [["completion", "bash"], "it completes them all"],
      [["--config", "status"], "no command is named"],
      [["toString"], "every object has one"],
    ] as const)("for %j: all of them, because %s", async ([args]) => {
      expect(await loaded(...args)).toEqual(all);
    });
  });
});

/** What cannot be meant is told in one line and ends with 2; nothing is printed to stdout. */
describe("usage", () => {
  test.for([
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
    [
      ["serve-archive", "--data", "x", "--listen", "8471"],
      /HOST:PORT/,
      "a port alone is no address",
    ],
    [
      ["serve-archive", "--data", "x", "--account", "key"],
      /KEY:SECRET/,
      "an account has two parts",
    ],
    [
      ["serve-archive", "--data", "x", "--account", "a:b", "--account", "a:c"],
      /key of its own/,
      "an account is known by its key",
    ],
    [
      ["serve-archive", "--data", "x", "--account-file", "/nowhere"],
      /--account-file: "\/nowhere" is not there/,
      "a file that is named is there",
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
    [["journal", "copy", "--from", "a", "--to", "postgres://h"], /--to .*USER@HOST/, "it is fixed"],
    [["archive"], /search, documents, digidoc/, "the operations are named"],
    [["archive", "serach"], /no operation serach/, "an operation that does not exist"],
    [["archive", "document"], /--id/, "a document is known by its id"],
    [["archive", "document", "x"], /whole number/, "an id is a number"],
    [["archive", "folders", "1", "--folder-id", "2"], /twice/, "it cannot be both"],
    [["archive", "documents", "--sort-desc", "yes"], /true or false/, "a flag is one of two"],
    [
      ["archive", "upload", "/nowhere/x.pdf"],
      /cannot be opened \(ENOENT\)/,
      "a file to send exists",
    ],
    [["archive", "upload", "/"], /not a file/, "a directory cannot be sent"],
    [
      ["archive", "upload", "a", "--folder-id", "2", "--path", "/A"],
      /keep one of the two/,
      "one folder; which of two counts is open",
    ],
    [
      ["archive", "upload", "a", "b", "--folder-id", "3"],
      /too many arguments/,
      "one file a request",
    ],
    [
      ["archive", "search", "hello", "world"],
      /too many arguments/,
      "words are quoted, not dropped",
    ],
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

    test("is what the bare program prints, with the commands in groups", async () => {
      const { code, stdout, stderr } = await scanferry([]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toBe((await scanferry(["--help"])).stdout);
      const headings = linesOf(stdout).filter((line) => /^\S.*:$/.test(line));
      expect(headings).toEqual([
        "Options:",
        "Daily use:",
        "Set-up:",
        "Troubleshooting:",
        "Archive:",
        "Trial:",
        "Examples:",
      ]);
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
});

describe("raw arguments", () => {
  const line = (...args: (string | Buffer)[]) =>
    Buffer.concat(args.flatMap((arg) => [Buffer.from(arg), Buffer.of(0)]));
  const bad = Buffer.concat([Buffer.from("bad"), Buffer.of(0xff), Buffer.from(".txt")]);

  test.for([
    [
      ["list", "", bad],
      ["list", "", "bad\\xff.txt"],
      "bytes that are no text are told as list shows them",
    ],
    [
      ["list", "a\ufffd", bad],
      ["list", "a\ufffd", "bad\\xff.txt"],
      "a name may hold the sign itself",
    ],
    [["ä\n.txt", bad], ["ä\n.txt", "bad\\xff.txt"], "what is text stays as it is"],
  ] as const)("%j are %j: %s", ([given, meant]) => {
    const args = given.map((arg) => arg.toString());
    expect(rawArguments(args, () => line("node", "--flag", "main.js", ...given))).toEqual(meant);
  });

  test.for([
    [Buffer.alloc(0), "the system does not tell"],
    [line("node", "list", "other"), "it tells of something else"],
  ] as const)("arguments stay as they are where %#: %s", ([commandLine]) => {
    expect(rawArguments(["list", bad.toString()], () => commandLine)).toEqual([
      "list",
      "bad\ufffd.txt",
    ]);
  });
});

describe("exit", () => {
  const problem = (key: string) => ({
    file: "/c.yaml",
    key,
    line: 3,
    message: "is bad",
    fix: "fix it",
  });

  test.for([
    [new UsageError("no such mirror"), 2, "the arguments cannot be used"],
    [new ConfigError([problem("a"), problem("b"), problem("c")]), 2, "nor can the configuration"],
    [new Fault("JOURNAL_LOCKED", "in use", "Stop the other."), 1, "a fault is a fault"],
    [new Fault("SIGNING_MODULE_UNFIT", "no export", "Export."), 2, "the configuration names it"],
    [new ArchiveError("refused", "DOC_NOT_EXIST", "no"), 1, "the archive said no"],
    [
      new ArchiveError("invalid", "INVALID_BATCH", "too long"),
      2,
      "nothing was sent: own parameters",
    ],
    [new InvariantError("impossible"), 1, "a bug is no usage error"],
    ["thrown text", 1, "whatever is thrown"],
  ] as const)("%s ends with %i: %s", ([error, code]) => {
    expect(endingOf(error).code).toBe(code);
  });

  const stopped = new Stopping("SIGINT received", "SIGINT");
  const client = new ArchiveError("notSent", "ARCHIVE_UNREACHABLE", "cut", { cause: stopped });

  test.for([
    [stopped, stopped, 130, /^scanferry: stopped before it was done$/, "Ctrl-C, as for shells"],
    [client, stopped, 130, /^scanferry: stopped before it was done$/, "what was cut says nothing"],
    [new Interrupted("what is left"), stopped, 130, /what is left/, "its own words go first"],
    [new Fault("X", "broken", "Fix it."), stopped, 130, /broken; fix it/, "a fault is named"],
    [new Interrupted("lost"), undefined, 1, /lost/, "nobody stopped it"],
    [new Interrupted("asked", 130), undefined, 130, /asked/, "Ctrl-C at a question"],
  ] as const)("%s, stopped by %s, ends with %i and %s: %s", ([error, why, code, line]) => {
    expect(endingOf(error, why)).toEqual({ code, lines: [expect.stringMatching(line)] });
  });

  test("a command that is stopped ends with 130, whatever it made of that", async () => {
    using folder = new ConfigFolder(
      `archive: { url: "http://127.0.0.1:9", accountKey: key, signing: { scheme: none } }
mirrors: [{ source: ./scans, target: /Scans }]
journal: ./journal.db
`,
    );
    mkdirSync(join(folder.path, "scans"));
    const stopping = AbortSignal.abort(stopped);
    for (const words of [["check"], ["archive", "folders"]]) {
      const ran = await scanferry(["--config", folder.file, ...words], { stopping });
      expect(ran.code, `${words.join(" ")}: ${ran.stderr}`).toBe(130);
    }
    const watch = await scanferry(["--config", folder.file, "status", "--watch"], { stopping });
    expect(watch.code).toBe(0);
  });

  test("SIGTERM ends a command with 143", () => {
    const why = new Stopping("SIGTERM received", "SIGTERM");
    expect(endingOf(why, why).code).toBe(143);
  });

  test("a limit of open files is no bug, anyone who met it", () => {
    const met = Object.assign(new Error("spawn node EMFILE"), { code: "EMFILE" });
    for (const error of [met, new Error("it did not start", { cause: met })]) {
      expect(endingOf(error).lines).toEqual([
        expect.stringMatching(
          /^scanferry: too many files are open .* \(EMFILE\); allow 1024 or more/,
        ),
      ]);
    }
  });

  test("every problem of a configuration has a line with file, key and fix", () => {
    const { lines } = endingOf(new ConfigError([problem("a"), problem("b"), problem("c")]));
    expect(lines).toEqual([
      "scanferry: /c.yaml:3: a: is bad; fix it",
      "scanferry: /c.yaml:3: b: is bad; fix it",
      "scanferry: /c.yaml:3: c: is bad; fix it",
    ]);
  });

  test("a fault is one line, whatever its message holds", () => {
    const { lines } = endingOf(
      new Fault("X", "first\nsecond \u001b[31mred", "Do this.\nThen that."),
    );
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
});

describe("paths", () => {
  const scans = aMirror({ name: "scans", source: "/srv/scans" });
  const inner = aMirror({ name: "inner", source: "/srv/scans/inner" });
  const post = aMirror({ name: "post", source: "/srv/post" });
  const all = [scans, inner, post];

  describe("a path means", () => {
    test.for([
      ["/srv/scans/a.pdf", "/", ["scans a.pdf"], "an absolute path below a source"],
      ["/srv/scans", "/", ["scans "], "the source itself is its root"],
      ["/srv/scans/inner/a.pdf", "/", ["inner a.pdf"], "the innermost source has it"],
      ["/srv/scans/../post/a.pdf", "/", ["post a.pdf"], "dots are resolved"],
      [
        "a.pdf",
        "/srv/scans/x",
        ["scans x/a.pdf"],
        "relative to the working directory inside a source",
      ],
      [".", "/srv/post", ["post "], "the working directory itself"],
      ["../post/a.pdf", "/srv/scans", ["post a.pdf"], "from one source to another"],
      [
        "x/a.pdf",
        "/home",
        ["scans x/a.pdf", "inner x/a.pdf", "post x/a.pdf"],
        "else each source's",
      ],
    ] as const)("%j in %s: %j (%s)", ([typed, cwd, meant]) => {
      const places = placesOf(typed, cwd, all);
      expect(places.map(({ mirror, path }) => `${mirror.name} ${path}`)).toEqual(meant);
    });

    test.for([
      ["/etc/passwd", "an absolute path outside of every source is a mistake"],
      ["/srv/scansx/a.pdf", "a source's name is not a prefix of letters"],
    ] as const)("%j is refused: %s", ([typed]) => {
      expect(() => placesOf(typed, "/", all)).toThrow(UsageError);
    });

    test("dots cannot lead out of a source", () => {
      expect(placesOf("../../etc/passwd", "/home/me", [scans])).toEqual([]);
    });
  });

  describe("a path in a working directory outside of all sources", () => {
    test.for([
      ["3.txt", all, "several mirrors may have one of that name"],
      ["3.txt", [scans], "nor is the one mirror's meant"],
      [".", [scans], "nor all of the mirror"],
    ] as const)("%s is refused as one outside, where it is there: %s", async ([typed, mirrors]) => {
      const cwd = realpathSync(mkdtempSync(join(tmpdir(), "scanferry-paths-")));
      writeFileSync(join(cwd, "3.txt"), "");
      const meant = placeOf(typed, { cwd, mirrors }, undefined);
      await expect(meant).rejects.toThrow(/^\/\S+ is not below the source of a mirror; sources:/);
      rmSync(cwd, { recursive: true });
    });

    test("is below a source where the shell got there by the source's own link, and only then", async () => {
      const top = realpathSync(mkdtempSync(join(tmpdir(), "scanferry-paths-")));
      const cwd = join(top, "real/sub");
      mkdirSync(cwd, { recursive: true });
      for (const at of [cwd, join(top, "real")]) writeFileSync(join(at, "b.pdf"), "");
      symlinkSync("real", join(top, "link"));
      const mirrors = [{ ...scans, source: join(top, "link") }];
      const place = await placeOf("b.pdf", { cwd, pwd: join(top, "link/sub"), mirrors }, undefined);
      expect(place.path).toBe("sub/b.pdf");
      for (const pwd of [undefined, join(top, "link")]) {
        const meant = placeOf("b.pdf", { cwd, pwd, mirrors }, undefined);
        await expect(meant).rejects.toThrow(UsageError);
      }
      rmSync(top, { recursive: true });
    });

    test.for([
      ["link/sub", "../b.pdf", "b.pdf", "up to the source"],
      ["link/sub", ".", "sub", "the directory itself"],
      ["link/sub", "../..", undefined, "out of the source"],
      ["link/away", "b.pdf", "away/b.pdf", "a link in the source"],
      ["link/away", "../b.pdf", undefined, "up from it the system is elsewhere"],
    ] as const)("from %s, %s is %s: %s", async ([at, typed, meant]) => {
      const top = realpathSync(mkdtempSync(join(tmpdir(), "scanferry-paths-")));
      for (const dir of ["real/sub", "far/away"]) mkdirSync(join(top, dir), { recursive: true });
      for (const dir of ["real", "far", "far/away"]) writeFileSync(join(top, dir, "b.pdf"), "");
      symlinkSync("real", join(top, "link"));
      symlinkSync("../far/away", join(top, "real/away"));
      const pwd = join(top, at);
      const scope = { cwd: realpathSync(pwd), pwd, mirrors: [{ ...scans, source: `${top}/link` }] };
      const place = placeOf(typed, scope, undefined);
      if (meant === undefined) await expect(place).rejects.toThrow(UsageError);
      else expect((await place).path).toBe(meant);
      rmSync(top, { recursive: true });
    });

    test("may be in any of them, where there is none", async () => {
      const meant = placeOf("3.txt", { cwd: "/nowhere", mirrors: all }, undefined);
      await expect(meant).rejects.toThrow(
        /can be in several mirrors \(scans, inner, post\); write the abs/,
      );
    });
  });

  test("what list shows of any name leads back to its bytes", () => {
    const name = fc
      .uint8Array({ minLength: 1, maxLength: 12 })
      .filter((bytes) => !bytes.some((byte) => byte === 0x2f || byte === 0 || byte === 0x5c))
      // Next to bytes that are no text, a control character beyond ASCII is shown as if it were one.
      .filter(
        (bytes) => textOf(rawOf(bytes)) !== undefined || !/\xc2[\x80-\x9f]/.test(rawOf(bytes)),
      )
      .filter((bytes) => ![".", ".."].includes(Buffer.from(bytes).toString("latin1")));
    fc.assert(
      fc.property(name, (bytes) => {
        const path = rawOf(bytes);
        const places = placesOf(`/srv/post/${shown(path)}`, "/", [post]);
        const found = places.map((place) => bytesOf(place.path).toString("hex"));
        expect(found).toContain(Buffer.from(bytes).toString("hex"));
      }),
    );
  });

  test("a name that holds \\x41 itself goes before what it may stand for", () => {
    const places = placesOf("/srv/post/a\\x41.pdf", "/", [post]);
    expect(places.map(({ path }) => path)).toEqual(["a\\x41.pdf", "aA.pdf"]);
  });
});
