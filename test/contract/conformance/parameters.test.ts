import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PARAMETERS } from "../../../src/embedded-archive/parameters.ts";
import { CODES } from "../../../src/wire/codes.ts";
import type { Operation } from "../../../src/wire/shapes.ts";
import { ArchiveUnderTest, outcomeOf } from "./archive-under-test.ts";
import { PARAMETER_ROWS as ROWS } from "./parameter-rows.ts";

let under: ArchiveUnderTest;
let digidocId: string;

beforeAll(async () => {
  under = await ArchiveUnderTest.open({ folders: ["/Scans/2026"] });
  const { asiceOf } = await import("../../fixtures/documents.ts");
  digidocId = String((await under.store("a.asice", asiceOf({ "a.txt": "a" }))).id);
  await under.archive.idle();
});
afterAll(() => under[Symbol.asyncDispose]());

/** What the operation cannot do without, unless the row is about just that. */
function needsOf(operation: Operation): Record<string, string> {
  if (operation === "digidoc") return { digidocId };
  if (operation === "document") return { id: digidocId };
  return operation === "upload" ? { filename: "a.txt" } : {};
}

describe.for(Object.keys(ROWS) as Operation[])("%s", (operation) => {
  test.for(ROWS[operation])("%s = %j gives %s: %s", async ([name, value, expected]) => {
    const fields = needsOf(operation);
    if (value === undefined) delete fields[name];
    else fields[name] = value.replace("{folder}", "/Scans/2026");
    const reply =
      operation === "upload" ? await under.upload(fields) : await under.ask(operation, fields);
    expect(outcomeOf(reply)).toBe(expected);
  });

  test("every parameter has its rows, and every code of a parameter occurs", () => {
    const names = new Set(ROWS[operation].map(([name]) => name));
    expect([...names].sort()).toEqual(Object.keys(PARAMETERS[operation]).sort());
    const expected = new Set(ROWS[operation].map(([, , code]) => code));
    const elsewhere = /QUOTA|PLUGIN|NO_FILE|FILE_SIZE_TOO/;
    const codes = CODES[operation].filter((code) => !elsewhere.test(code));
    expect([...expected].filter((code) => code !== "OK").sort()).toEqual([...codes].sort());
  });
});

test.for(["search", "documents", "folders"] as const)(
  "%s: the largest index of the largest page lies behind the list",
  async (operation) => {
    const fields = { paginationIndex: "9007199254740991", paginationSize: "1000" };
    const { body } = await under.ask(operation, fields);
    expect(body).toMatchObject({ response: "OK", paginationSize: 1000 });
    expect([body["documents"] ?? [], body["folders"] ?? []]).toEqual([[], []]);
  },
);

test("the first malformed parameter is reported, and parameters nobody knows are ignored", async () => {
  const reply = await under.ask("search", { sortBy: "x", queryContent: "x", whatever: "x" });
  expect(outcomeOf(reply)).toBe("INVALID_QUERY_CONTENT");
  expect(outcomeOf(await under.ask("folder", { whatever: "x" }))).toBe("OK");
});
