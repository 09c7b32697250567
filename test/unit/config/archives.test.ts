/** One archive, or several: which a mirror is carried into is never left to chance. */
import { expect, test } from "vitest";
import { accountsOf, archivesOf } from "../../../src/config/config.ts";
import { secretsOf } from "../../../src/config/config.ts";
import { ConfigFolder } from "./config-folder.ts";

const ONE = `archive: { url: "https://one.example.com", accountKey: k, signing: { secret: s } }`;
const TWO = `archives:
  main: { url: "https://main.example.com", accountKey: key-main, signing: { secret: secret-main } }
  legal: { url: "https://legal.example.com", accountKey: key-legal, signing: { secret: secret-legal } }`;
const ONLY_LEGAL = `archives: { legal: { url: "https://l.example.com", accountKey: k, signing: { scheme: none } } }`;
const NO_MAIN = TWO.replace("main:", "front-office:");

const mirrors = (...written: string[]) =>
  `mirrors:\n${written.map((keys, at) => `  - { source: /srv/${at}, target: /, ${keys} }\n`).join("")}`;

test.for([
  [ONE, "", "main", "the one of `archive:` is called so"],
  [ONE, "archive: main", "main", "and may be named"],
  [TWO, "", "main", "the default is a name, not a place in the file"],
  [TWO, "archive: legal", "legal", "it is named"],
  [ONLY_LEGAL, "", "legal", "there is no other"],
] as const)("%s: a mirror with `%s` goes to %s, because %s", async ([archives, keys, name]) => {
  using folder = new ConfigFolder(`${archives}\n${mirrors(keys)}`);
  expect((await folder.load({})).mirrors[0]?.archive).toBe(name);
});

test.for([
  [`${ONE}\n${TWO}`, "", "archive: is given next to archives", "two ways to say it"],
  [ONE, "archive: legal", 'mirrors[0].archive: there is no archive "legal"', "a name of none"],
  [TWO, "archive: lgal", 'mirrors[0].archive: there is no archive "lgal"', "mistyped"],
  [NO_MAIN, "", "mirrors[0].archive: is missing: there are several", "not one by its place"],
  ["archives: {}", "", "archives: is empty", "no archive at all"],
  ["archives: [a]", "", "archives: must be a mapping of names", "a list has no names"],
  [TWO.replace("legal:", "Legal Dept:"), "", "archives.Legal…: cannot be the name", "a label"],
  [TWO.replace("key-legal", "[x]"), "", "archives.legal.accountKey: must be text", "its own key"],
] as const)("%s with a mirror `%s` is refused: %s (%s)", async ([archives, keys, problem]) => {
  using folder = new ConfigFolder(`${archives}\n${mirrors(keys)}`);
  expect((await folder.problems({})).join("\n")).toContain(problem);
});

test("the one is given by a variable, which is named", async () => {
  using folder = new ConfigFolder(`${TWO}\n${mirrors("")}`);
  const told = await folder.problems({ SCANFERRY_ARCHIVE_TIMEOUT: "9s" });
  const line = "$SCANFERRY_ARCHIVE_TIMEOUT: archive: is given next to archives";
  expect(told.filter((each) => each.includes("next to"))).toEqual([expect.stringContaining(line)]);
});

test("each archive has the configuration with its own mirrors and no other archive", async () => {
  using folder = new ConfigFolder(`${TWO}\n${mirrors("", "archive: legal", "archive: main")}`);
  const config = await folder.load({});
  expect(archivesOf(config).map(({ name, url }) => [name, url])).toEqual([
    ["main", "https://main.example.com"],
    ["legal", "https://legal.example.com"],
  ]);
  const accounts = accountsOf(config).map(({ archive, furtherArchives, mirrors: own }) => {
    return [archive.name, furtherArchives, own.map(({ name }) => name)];
  });
  expect(accounts).toEqual([
    ["main", [], ["0", "2"]],
    ["legal", [], ["1"]],
  ]);
  expect(secretsOf(config)).toEqual(["key-main", "secret-main", "key-legal", "secret-legal"]);
});

test("one of several takes its secrets from variables of its own, and from no others", async () => {
  using folder = new ConfigFolder(`archives:
  main: { url: "https://a.example.com" }
  front-office: { url: "https://b.example.com" }
${mirrors("")}`);
  const own = {
    SCANFERRY_ACCOUNT_KEY_MAIN: "k1",
    SCANFERRY_SIGNING_SECRET_MAIN: "s1",
    SCANFERRY_ACCOUNT_KEY_FRONT_OFFICE: "k2",
    SCANFERRY_SIGNING_SECRET_FRONT_OFFICE: "s2",
  };
  expect(archivesOf(await folder.load(own))).toMatchObject([
    { accountKey: "k1", signing: { secret: "s1" } },
    { accountKey: "k2", signing: { secret: "s2" } },
  ]);
  const common = { SCANFERRY_ACCOUNT_KEY: "k", SCANFERRY_SIGNING_SECRET: "s" };
  expect(await folder.problems(common)).toEqual([
    expect.stringContaining("archives.main.accountKey: is missing"),
    expect.stringContaining("archives.main.signing.secret: is missing"),
    expect.stringContaining("archives.front-office.accountKey: is missing"),
    expect.stringContaining("$SCANFERRY_SIGNING_SECRET_FRONT_OFFICE"),
  ]);
});
