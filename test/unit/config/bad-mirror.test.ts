import { expect, test } from "vitest";
import { ConfigFolder } from "./config-folder.ts";

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
    "targetId: is given beside target; keep one of target and targetId",
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
