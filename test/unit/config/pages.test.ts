/** The keys of the page budget. */
import { expect, test } from "vitest";
import { ConfigFolder, LEAST } from "./config-folder.ts";

test.for([
  // quota, pages, because
  ["", { whenUsedUp: "warn", monthBegins: 1 }, "no allowance is known"],
  [
    "monthlyPages: 9, whenUsedUp: hold, monthBegins: 28",
    { whenUsedUp: "hold", monthBegins: 28 },
    "words",
  ],
  [
    "monthlyPages: 9, reserve: { pages: 9, mirrors: [scans] }",
    { reserve: { pages: 9, mirrors: ["scans"] } },
    "all of it",
  ],
] as const)("quota: { %s } is %o: %s", async ([keys, pages]) => {
  using folder = new ConfigFolder(`${LEAST}quota: { ${keys} }\n`);
  expect((await folder.load()).quota.pages).toMatchObject(pages);
});

test.for([
  [
    "monthlyPages: 0",
    "monthlyPages: 0 is out of bounds; write a whole number from 1 to 1000000000",
    "never",
  ],
  [
    "monthBegins: 31",
    "monthBegins: 31 is out of bounds; write a whole number from 1 to 28",
    "not every month has it",
  ],
  ["whenUsedUp: stop", 'whenUsedUp: "stop" is none of warn, hold; write warn, hold', "one of two"],
  [
    "reserve: { pages: 5, mirrors: [scans] }",
    "reserve.pages: has no monthlyPages to be taken from; write e.g. monthlyPages: 5000",
    "of what?",
  ],
  [
    "monthlyPages: 9, reserve: { pages: 10, mirrors: [scans] }",
    "reserve.pages: 10 is more than monthlyPages (9); reserve fewer pages",
    "more than there are",
  ],
  [
    "monthlyPages: 9, reserve: { pages: 5 }",
    "reserve.mirrors: is missing; write e.g. mirrors: [contracts]",
    "for whom?",
  ],
  [
    "monthlyPages: 9, reserve: { mirrors: [scans] }",
    "reserve.pages: is missing; write e.g. pages: 500",
    "how many?",
  ],
  [
    "monthlyPages: 9, reserve: { pages: 5, mirrors: [z] }",
    'reserve.mirrors[0]: "z" is no mirror\'s name; write one of scans',
    "an attributes would reserve them for nobody",
  ],
] as const)("quota: { %s } is refused: %s (%s)", async ([keys, problem]) => {
  using folder = new ConfigFolder(`${LEAST}quota: { ${keys} }\n`);
  expect(
    (await folder.problems()).map((text) => text.replace("scanferry.yaml:3: quota.", "")),
  ).toEqual([problem]);
});

test("a mirror's order is one of two", async () => {
  using folder = new ConfigFolder(LEAST.replace("target:", "order: newest, target:"));
  expect((await folder.load()).mirrors[0]?.rules.order).toBe("newest");
  using wrong = new ConfigFolder(LEAST.replace("target:", "order: largest, target:"));
  expect((await wrong.problems())[0]).toContain('"largest" is none of oldest, newest');
});
