import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import * as fc from "fast-check";
import { expect, test, describe } from "vitest";
import { ConfigFolder, LEAST } from "./config-folder.ts";
import { loadConfig } from "../../../src/config/load-config.ts";
import { editDistance, nearest } from "../../../src/std/nearest.ts";

describe("bad file", () => {
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
      "what follows from the tab is not told next to it",
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
    [
      "archive: &a\n  url: *b",
      "2: an alias (*name) has no anchor (&name) above it; set the anchor first, or put a value that starts with * in quotes",
      "an alias of nothing has a line, too",
    ],
  ] as const)("%j gives line %s (%s)", async ([text, expected]) => {
    using folder = new ConfigFolder(text);
    expect(await folder.problems()).toEqual([`scanferry.yaml:${expected}`]);
  });

  test("a file that is no text is refused", async () => {
    using folder = new ConfigFolder();
    folder.write("scanferry.yaml", Buffer.from([0xff, 0xfe, 0x61, 0x00]));
    expect(await folder.problems()).toEqual([
      "scanferry.yaml: is not UTF-8 text; save it as UTF-8",
    ]);
  });

  test("a pipe is read to its end, and of a device that has none no more than 1 MiB", async () => {
    using folder = new ConfigFolder();
    execFileSync("mkfifo", [folder.file]);
    const writing = writeFile(folder.file, "just text");
    expect(await folder.problems()).toEqual([expect.stringContaining("scanferry.yaml")]);
    await writing;
    const zero = loadConfig({ file: "/dev/zero", env: {}, cwd: "/" });
    await expect(zero).rejects.toThrow("/dev/zero: is larger than 1 MiB; name another file");
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
    expect(error?.problems.map(({ line, key }) => [line, key])).toEqual([
      [1, "shutdown"],
      [2, "archive.accountKey"],
      [2, "archive.signing.secret"],
      [3, "archive.url"],
      [4, "archive.timout"],
      [7, "mirrors[0].target"],
      [8, "mirrors[0].settle"],
      [9, "mirrors[1].source"],
      [10, "mirrors[1].targetId"],
    ]);
    expect(error).toMatchObject({ code: "CONFIG_INVALID" });
  });
});

describe("bad key", () => {
  /** Lines added to the least configuration, which has two; so the first added one is line 3. */
  test.for([
    ["journal: 5", 'scanferry.yaml:3: journal: 5 is not text; put it in quotes: "5"', "a number"],
    ["journal: [a]", "scanferry.yaml:3: journal: must be text, is a list; write text", "a list"],
    [
      "journal: ~/j.db",
      'scanferry.yaml:3: journal: "~/j.db" starts with ~, which is not expanded; write the whole path',
      "no shell has seen it",
    ],
    [
      "journal: 'C:\\scanferry\\j.db'",
      'scanferry.yaml:3: journal: "C:\\\\scanferry\\\\j.db" is a Windows path or the address of a share; mount the share on this machine, and write the folder of the mount, e.g. /mnt/scans (docs/shares.md)',
      "a drive is none here: it would be a file of that odd name",
    ],
    [
      "receipts: \\\\server\\receipts",
      'scanferry.yaml:3: receipts: "\\\\\\\\server\\\\receipts" is a Windows path or the address of a share; mount the share on this machine, and write the folder of the mount, e.g. /mnt/scans (docs/shares.md)',
      "nor is a share",
    ],
    [
      "jurnal: /j.db",
      "scanferry.yaml:3: jurnal: unknown key; did you mean journal?",
      "a typo names the nearest key",
    ],
    [
      "wbe: off",
      "scanferry.yaml:3: wbe: unknown key; did you mean web?",
      "two letters of a short word were exchanged",
    ],
    [
      "upload: { concurency: 3 }",
      "scanferry.yaml:3: upload.concurency: unknown key; did you mean concurrency?",
      "nearest among the keys of the same section",
    ],
    [
      "rescan: x",
      "scanferry.yaml:3: rescan: unknown key; it belongs under schedule",
      "right word, wrong place",
    ],
    [
      "notify: { command: [{ run: [/bin/a], timeout: 3s }] }",
      "scanferry.yaml:3: notify.command[0].timeout: unknown key; it belongs under notify",
      "of several sections that have the word, the nearest",
    ],
    [
      "log: { colour: true }",
      "scanferry.yaml:3: log.colour: unknown key; known keys here: level, file, keep",
      "nothing is near",
    ],
    [
      "upload: { concurrency: 65 }",
      "scanferry.yaml:3: upload.concurrency: 65 is out of bounds; write a whole number from 1 to 64",
      "the bounds are told",
    ],
    [
      "upload: { concurrency: 0 }",
      "scanferry.yaml:3: upload.concurrency: 0 is out of bounds; write a whole number from 1 to 64",
      "none at a time sends nothing",
    ],
    [
      "upload: { concurrency: 2.5 }",
      "scanferry.yaml:3: upload.concurrency: 2.5 is not a whole number; write a whole number from 1 to 64",
      "halves cannot be sent",
    ],
    [
      'batch: { maxDocuments: "7" }',
      'scanferry.yaml:3: batch.maxDocuments: "7" is text, not a number; write 7 without quotes',
      "quotes make text of it",
    ],
    [
      "batch: { quiet: 5 }",
      "scanferry.yaml:3: batch.quiet: 5 is not a duration; write 3s, 200ms, 5m, 6h or 7d",
      "seconds or milliseconds?",
    ],
    [
      "batch: { quiet: 2d }",
      'scanferry.yaml:3: batch.quiet: "2d" is too long; write 1d or less',
      "bounds",
    ],
    [
      "conversion: { stuckAfter: 0 }",
      "scanferry.yaml:3: conversion.stuckAfter: 0 is not a duration; write 3s, 200ms, 5m, 6h or 7d",
      "zero only where it makes sense",
    ],
    [
      "conversion: { stuckAfter: 0s }",
      'scanferry.yaml:3: conversion.stuckAfter: "0s" is too short; write 1ms or more',
      "zero only where it makes sense",
    ],
    [
      "upload: { retry: { initial: 10m } }",
      "scanferry.yaml:3: upload.retry.initial: 10m is longer than max (5m); make initial shorter, or max longer",
      "also against a default",
    ],
    [
      'schedule: { rescan: "61 * * * *" }',
      'scanferry.yaml:3: schedule.rescan: "61 * * * *" is not a cron expression (wrong: minute); write 5 fields, or 6 with seconds first, e.g. "*/10 * * * *"',
      "hours have 60 minutes",
    ],
    [
      'quota: { retryAt: "@daily" }',
      'scanferry.yaml:3: quota.retryAt: "@daily" is not a cron expression; write 5 fields, or 6 with seconds first, e.g. "*/10 * * * *"',
      "nicknames are not of the contract",
    ],
    [
      "web: on",
      'scanferry.yaml:3: web: "on" is not HOST:PORT; write HOST:PORT, e.g. 127.0.0.1:8470 or "[::1]:8470", or off',
      "on what?",
    ],
    [
      "web: { listen: 8470 }",
      'scanferry.yaml:3: web.listen: 8470 is not HOST:PORT; write HOST:PORT, e.g. 127.0.0.1:8470 or "[::1]:8470", or off',
      "no port alone: to whom it listens must be said",
    ],
    [
      'web: { listen: "::1:8470" }',
      'scanferry.yaml:3: web.listen: "::1:8470" is not HOST:PORT; write HOST:PORT, e.g. 127.0.0.1:8470 or "[::1]:8470", or off',
      "where does the port begin?",
    ],
    [
      "web: { listen: 127.0.0.1:70000 }",
      "scanferry.yaml:3: web.listen: 70000 is no port; write a port from 0 to 65535, or off",
      "16 bits",
    ],
    [
      "web: { listen: 300.0.0.1:80 }",
      'scanferry.yaml:3: web.listen: "300.0.0.1:80" is not HOST:PORT; write HOST:PORT, e.g. 127.0.0.1:8470 or "[::1]:8470", or off',
      "no address",
    ],
    [
      "log: { level: warning }",
      'scanferry.yaml:3: log.level: "warning" is none of trace, debug, info, warn, error, fatal, silent; did you mean warn?',
      "the nearest word",
    ],
    [
      "log: debug",
      "scanferry.yaml:3: log: must be a mapping of keys, is text; write its keys: level, file, keep",
      "a section is no value",
    ],
    [
      "journal: /srv/scans/j.db",
      'scanferry.yaml:3: journal: "/srv/scans/j.db" lies in the source of mirrors[0], which would send it; keep it outside, e.g. /var/lib/scanferry/journal.db',
      "it would be sent, for ever again",
    ],
    [
      "log: { level: info }\nlog: { level: warn }",
      "scanferry.yaml:4: log: is given twice; keep one of the two",
      "which one counts?",
    ],
    [
      "log: {\n  level: info,\n  level: warn }",
      "scanferry.yaml:5: log.level: is given twice; keep one of the two",
      "which one counts?",
    ],
    [
      "journal: \u0000",
      'scanferry.yaml:3: journal: "\\u0000" holds a NUL character; remove it',
      "no file system has such names",
    ],
  ] as const)("%s: %s (%s)", async ([added, expected]) => {
    using folder = new ConfigFolder(`${LEAST}${added}\n`);
    expect(await folder.problems()).toEqual([expected]);
  });

  test.for([
    [
      "parts: 4",
      "mirrors[0].parts: removed key; remove it: of several daemons one scans each mirror, and all of them send",
    ],
    [
      "examples: [{ path: a.pdf, folder: /Scans }]",
      "mirrors[0].examples: removed key; remove it: scanferry rules test PATH shows the decision for a path",
    ],
    [
      "afterDuplicate: delete",
      "mirrors[0].afterDuplicate: removed key; remove it: what becomes of a duplicate, an hour later, says after",
    ],
    [
      "duplicates: link",
      'mirrors[0].duplicates: "link" is none of upload, skip; write skip: a duplicate gets what after says',
    ],
    [
      "order: smallest",
      'mirrors[0].order: "smallest" is none of oldest, newest; write oldest: large files do not hold small ones up, they have places of their own',
    ],
    [
      "quota: { smallFirstBelow: 500 }",
      "quota.smallFirstBelow: removed key; remove it: whenUsedUp: hold sends what still fits the pages that are left",
    ],
    [
      "quota: { unknownPages: 3 }",
      "quota.unknownPages: removed key; remove it: a document whose pages cannot be counted counts as one page",
    ],
    [
      "notify: { remind: 1d }",
      "notify.remind: removed key; write notify.repeat: reminders of what lasts come this often",
    ],
    [
      "notify: { quiet: { urgent: [disk] } }",
      "notify.quiet.urgent: removed key; remove it: findings about credentials and the disk are sent within quiet hours",
    ],
  ] as const)("a key of an earlier version, %s: what to do instead", async ([key, expected]) => {
    const isMirrors = expected.startsWith("mirrors");
    using folder = new ConfigFolder(
      isMirrors ? LEAST.replace("target: /Scans", `target: /Scans, ${key}`) : `${LEAST}${key}\n`,
    );
    expect(await folder.problems()).toEqual([`scanferry.yaml:${isMirrors ? 2 : 3}: ${expected}`]);
  });

  test.for([
    [
      "archive.example.com",
      '"archive.example.com" is not an http or https URL; write https://archive.example.com',
      "no scheme",
    ],
    [
      "ftp://a",
      '"ftp://a" is not an http or https URL; write https://HOST or https://HOST/PATH',
      "another scheme",
    ],
    ["https://", '"https://" is not a URL; write https://HOST or https://HOST/PATH', "no host"],
    [
      "https://a b/",
      '"https://a b/" is not a URL; write https://HOST or https://HOST/PATH',
      "a blank",
    ],
    [
      "https://u:CANARY@a/",
      "has credentials, a query or a fragment; write https://HOST or https://HOST/PATH",
      "a password is not told",
    ],
    [
      "https://a/?k=CANARY",
      "has credentials, a query or a fragment; write https://HOST or https://HOST/PATH",
      "a query is not told",
    ],
    [
      "https://a/#x",
      "has credentials, a query or a fragment; write https://HOST or https://HOST/PATH",
      "paths are put behind it",
    ],
  ] as const)("the URL %s %s (%s)", async ([url, expected]) => {
    using folder = new ConfigFolder(LEAST.replace("https://archive.example.com", url));
    expect(await folder.problems()).toEqual([`scanferry.yaml:1: archive.url: ${expected}`]);
  });

  test.for([
    [
      "algorithm: sha2566",
      '"sha2566" is not a digest that an HMAC can be made with; did you mean sha256?',
      "a typo",
    ],
    [
      "algorithm: shake128",
      '"shake128" is not a digest that an HMAC can be made with; did you mean sha',
      "listed, but not for HMAC",
    ],
    [
      "encoding: base32",
      '"base32" is none of base64, hex; did you mean base64?',
      "the contract has two",
    ],
    [
      "scheme: sha256",
      '"sha256" is none of hmac, hmac2, none, module; write hmac, hmac2, none, module',
      "that is the algorithm",
    ],
    ["scheme: module", "is missing; write e.g. module: ./sign.mjs", "which module?"],
  ] as const)("signing { %s }: %s (%s)", async ([signing, expected]) => {
    using folder = new ConfigFolder(LEAST.replace(" }\n", `, signing: { ${signing} } }\n`));
    const key = signing === "scheme: module" ? "module" : signing.replace(/:.*/, "");
    expect(await folder.problems()).toEqual([
      expect.stringContaining(`scanferry.yaml:1: archive.signing.${key}: ${expected}`),
    ]);
  });
});

describe("bad mirror", () => {
  /** The keys of the only mirror. */
  test.for([
    ["target: /A", "source: is missing; write e.g. source: /srv/scans", "nothing to watch"],
    [
      "source: /s",
      "target: is missing; write e.g. target: /Scans, or targetId: 17",
      "a wrong folder costs manual work; none is guessed",
    ],
    [
      "source: /s, target: Scans",
      'target: "Scans" does not start with /; write /Scans',
      "one way to write a folder",
    ],
    [
      "source: /s, target: /A//B",
      'target: "/A//B" has an empty part, "." or ".."; write a path such as /Scans/2026',
      "no folder is called so",
    ],
    [
      "source: /s, target: /A/../B",
      'target: "/A/../B" has an empty part, "." or ".."; write a path such as /Scans/2026',
      "the archive has no such steps",
    ],
    [
      "source: /s, target: /A, targetId: 3",
      "targetId: is given next to target; keep one of target and targetId",
      "which one counts?",
    ],
    [
      "source: /s, targetId: 0",
      "targetId: 0 is out of bounds; write a whole number from 1 to 9007199254740991",
      "ids start at 1",
    ],
    [
      'source: /s, targetId: "17"',
      'targetId: "17" is text, not a number; write 17 without quotes',
      "quotes make text of it",
    ],
    [
      "source: /s, target: /A, settle: 3 s",
      'settle: "3 s" is not a duration; write 3s, 200ms, 5m, 6h or 7d',
      "the contract's forms",
    ],
    [
      "source: /s, target: /A, watch: poll",
      'watch: "poll" is none of auto, native, polling, off; did you mean polling?',
      "the nearest word",
    ],
    [
      "source: /s, target: /A, watch: false",
      "watch: false is none of auto, native, polling, off; write auto, native, polling, off",
      "words are words",
    ],
    [
      "source: /s, target: /A, include: '*.pdf'",
      'include: must be a list, is text; write a list, e.g. include: ["**/*.pdf", "**/*.tif"]',
      "lists are lists",
    ],
    [
      "source: /s, target: /A, include: []",
      'include: is empty; write a list, e.g. include: ["**/*.pdf", "**/*.tif"]',
      "nothing would ever be sent",
    ],
    [
      'source: /s, target: /A, include: ["a", "[b"]',
      'include[1]: "[b" is not a glob; close its brackets, or escape them with \\',
      "the index tells which",
    ],
    [
      'source: /s, target: /A, exclude: ["/tmp/x"]',
      'exclude[0]: "/tmp/x" matches nothing: paths are relative to the source; write "tmp/x"',
      "a pattern that never matches guards nothing",
    ],
    [
      'source: /s, target: /A, exclude: ["tmp/"]',
      'exclude[0]: "tmp/" matches nothing: it names no file; write "tmp/**"',
      "a pattern that never matches guards nothing",
    ],
    [
      'source: /s, target: /A, include: ["!*.tmp"]',
      'include[0]: "!*.tmp" turns the pattern round; put it under exclude, without the !',
      "there is a key for that",
    ],
    [
      'source: /s, target: /A, missingFolder: "fallback: /Inbox"',
      'missingFolder: " /Inbox" does not start with /; write /Inbox',
      "a blank too many is no folder",
    ],
    [
      "source: /s, target: /A, missingFolder: fallback:Inbox",
      'missingFolder: "Inbox" does not start with /; write /Inbox',
      "one way to write a folder",
    ],
    [
      "source: /s, target: /A, missingFolder: create",
      'missingFolder: "create" is none of hold, nearest, fallback:/Path; write hold, nearest or fallback:/Path',
      "the archive has no such operation",
    ],
    [
      "source: /s, target: /A, after: move",
      'after: "move" is none of keep, delete, move:PATH; write keep, delete or move:/srv/done',
      "where to?",
    ],
    [
      "source: /s, target: /A, after: { move: /d }",
      "after: a mapping is none of keep, delete, move:PATH; write keep, delete or move:/srv/done",
      "one way to write it",
    ],
    [
      "source: /s, target: /A, after: move:/s/",
      'after: "/s" is the source itself; move to another folder',
      "that is no move",
    ],
    [
      "source: /, target: /A, journal: x",
      "journal: unknown key; it belongs under the top level",
      "right word, wrong place",
    ],
    [
      'source: /s, target: /A, name: ""',
      "name: a name is empty; write a name of 1 to 100 characters, without control characters",
      "it must be possible to say",
    ],
    [
      `source: /s, target: /A, name: ${"n".repeat(101)}`,
      "name: a name has 101 characters; write a name of 1 to 100 characters, without control characters",
      "it stands in every line of the log",
    ],
    [
      'source: /s, target: /A, name: "a\\e[2J"',
      'name: "a\\u001b[2J" has a control character; write a name of 1 to 100 characters, without control characters',
      "it would steer the terminal; the message does not either",
    ],
    ["source: 2026, target: /A", 'source: 2026 is not text; put it in quotes: "2026"', "a number"],
  ] as const)("a mirror { %s }: %s (%s)", async ([mirror, expected]) => {
    const journal = "journal: /var/lib/scanferry/journal.db";
    using folder = new ConfigFolder(
      `archive: { url: "http://localhost" }\nmirrors:\n  - { ${mirror} }\n${journal}\n`,
    );
    const problems = await folder.problems();
    expect(problems).toContain(`scanferry.yaml:3: mirrors[0].${expected}`);
    // The root as a source also has the journal in it and no last folder.
    expect(problems).toHaveLength(mirror.startsWith("source: /,") ? 3 : 1);
  });

  /** Two mirrors, on lines 3 and 4. */
  test.for([
    [
      ["source: /a/s, target: /A", "source: /b/s, target: /B"],
      'scanferry.yaml:4: mirrors[1].name: "s" is the name of mirrors[0] too; give it a name of its own',
      "commands would not know which",
    ],
    [
      ["source: /a, target: /A", "source: /a/, name: b, target: /B"],
      'scanferry.yaml:4: mirrors[1].source: "/a" is the source of mirrors[0] ("/a"), so files would be sent twice; give folders of which none lies in another',
      "sent twice is paid twice",
    ],
    [
      ["source: /a/b, target: /A", "source: /a, target: /B"],
      'scanferry.yaml:4: mirrors[1].source: "/a" overlaps the source of mirrors[0] ("/a/b"), so files would be sent twice; give folders of which none lies in another',
      "in either order",
    ],
    [
      ["source: /a, target: /A", "source: /b, target: /B, after: move:/a/done"],
      'scanferry.yaml:4: mirrors[1].after: "/a/done" lies in the source of mirrors[0], which would send it again; move to a folder outside of it',
      "the other mirror takes it for new",
    ],
    [["source: /a, target: /A", "source: /ab, target: /A"], undefined, "a prefix is not a folder"],
    [
      ["source: /a, target: /A", "source: /a..b, target: /A"],
      undefined,
      "dots in a name are not steps up",
    ],
  ] as const)("mirrors %j: %s (%s)", async ([[first, second], expected]) => {
    using folder = new ConfigFolder(
      `archive: { url: "http://localhost" }\nmirrors:\n  - { ${first} }\n  - { ${second} }\n`,
    );
    expect(await folder.problems()).toEqual(expected === undefined ? [] : [expected]);
  });
});

describe("nearest", () => {
  const KNOWN = ["url", "accountKey", "accountKeyFile", "signing", "timeout"];

  test.for([
    ["acountKey", "accountKey", "a letter is missing"],
    ["accountkey", "accountKey", "case is not what a person looks for"],
    ["account_key", "accountKey", "another habit of writing"],
    ["timeuot", "timeout", "two letters changed places"],
    ["uri", "url", "one letter of three"],
    ["xyz", undefined, "nothing of it is left"],
    ["arc", undefined, "two letters of three are others"],
    ["completelyDifferent", undefined, "no mistake of typing"],
    ["x".repeat(100_000), undefined, "something was pasted there"],
  ] as const)("%s was meant to be %s: %s", ([word, meant]) => {
    expect(nearest(word, KNOWN)).toBe(meant);
  });

  test("the distance is one of a metric", () => {
    const word = fc.string({ maxLength: 8 });
    fc.assert(
      fc.property(word, word, word, (a, b, c) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a));
        expect(editDistance(a, b) === 0).toBe(a === b);
        expect(editDistance(a, c)).toBeLessThanOrEqual(editDistance(a, b) + editDistance(b, c));
      }),
    );
  });
});
