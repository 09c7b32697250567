import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Operation } from "../../../src/wire/shapes.ts";
import { asiceOf } from "../../fixtures/documents.ts";
import { ArchiveUnderTest } from "./archive-under-test.ts";

/** What is listed; names repeat, so that every order has ties. */
const COUNT = 13;
let under: ArchiveUnderTest;
let digidocId: string;
let folderId: string;

beforeAll(async () => {
  under = await ArchiveUnderTest.open();
  const files = Array.from({ length: COUNT }, (_, n) => [`${n}.txt`, "same"]);
  digidocId = String((await under.store("a.asice", asiceOf(Object.fromEntries(files)))).id);
  folderId = String(under.archive.createFolder("/Many"));
  for (let n = 0; n < COUNT; n++) {
    under.archive.createFolder(`/Many/${n}`);
    await under.store(`${n % 3}.txt`, "same", { folderId, expireDate: String(n % 4) });
  }
  await under.archive.idle();
});
afterAll(() => under[Symbol.asyncDispose]());

const lists: fc.Arbitrary<{ operation: Operation; fields: Record<string, string> }> = fc.oneof(
  fc
    .constantFrom("NAME", "PAGES", "CREATED_DATE", "UPLOADED_DATE", "EXPIRE_DATE")
    .chain((sortBy) =>
      fc.constantFrom(
        { operation: "documents" as const, fields: { folderId, sortBy } },
        { operation: "search" as const, fields: { sortBy } },
      ),
    ),
  fc
    .constantFrom("NAME", "PAGES", "CREATED_DATE", "UPLOADED_DATE")
    .map((sortBy) => ({ operation: "digidoc" as const, fields: { sortBy } })),
  fc
    .constantFrom("NAME", "CREATED_DATE")
    .map((sortBy) => ({ operation: "folders" as const, fields: { sortBy } })),
);

/** Ids of one page, marked by what they are of. */
function idsOf(body: Record<string, unknown>): string[] {
  return ["documents", "folders"].flatMap((kind) =>
    ((body[kind] ?? []) as { id: number }[]).map(({ id }) => `${kind} ${id}`),
  );
}

test("pages of any size, one after another, are the list: nothing lost, nothing twice", async () => {
  const law = fc.asyncProperty(
    lists,
    fc.integer({ min: 1, max: COUNT + 2 }),
    fc.boolean(),
    async ({ operation, fields }, size, sortDesc) => {
      const place: Record<string, string> =
        operation === "digidoc" ? { digidocId } : operation === "search" ? {} : { folderId };
      const asked = { ...fields, ...place, sortDesc: String(sortDesc) };
      const whole = idsOf((await under.ask(operation, { ...asked, paginationSize: "100" })).body);
      const paged: string[] = [];
      let pages = 1;
      for (let index = 0; index < pages; index++) {
        const paging = { paginationSize: String(size), paginationIndex: String(index) };
        const { body } = await under.ask(operation, { ...asked, ...paging });
        pages = Number(body["paginationPages"]);
        const ids = idsOf(body);
        expect(ids.length).toBeLessThanOrEqual(size);
        paged.push(...ids);
      }
      expect(pages).toBe(Math.ceil(whole.length / size));
      expect(paged).toEqual(whole);
      expect(new Set(paged).size).toBe(whole.length);
      expect(whole.length).toBeGreaterThanOrEqual(COUNT);
    },
  );
  await fc.assert(law, { numRuns: 40 });
});
