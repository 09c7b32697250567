import { expect, test } from "vitest";
import type { Archive } from "../../../src/archive/archive.ts";
import { allDocuments, allFolders, pages } from "../../../src/archive/paging.ts";
import type { DocumentDetail } from "../../../src/wire/shapes.ts";
import { errorOf, never } from "./fixture.ts";
import { detail } from "./raw-server.ts";

/** An archive whose lists have these pages, and that remembers which were asked for. */
function listing(ids: number[][]): { archive: Archive; asked: unknown[] } {
  const asked: unknown[] = [];
  const answer = async (query: { paginationIndex?: number }) => {
    asked.push(query);
    const documents = (ids[query.paginationIndex ?? 0] ?? []).map((id) => detail({ id }));
    return { paginationPages: ids.length, paginationSize: 2, documents, folders: documents };
  };
  return { archive: { documents: answer, folders: answer } as unknown as Archive, asked };
}

async function idsOf(all: AsyncIterable<{ id: number }>): Promise<number[]> {
  const ids: number[] = [];
  for await (const { id } of all) ids.push(id);
  return ids;
}

test.for([
  [[], [], 1, "an empty list has a page to ask for, and none behind it"],
  [[[1, 2]], [1, 2], 1, "one page"],
  [[[1, 2], [3]], [1, 2, 3], 2, "two pages"],
  [
    [
      [1, 2],
      [2, 3],
    ],
    [1, 2, 3],
    2,
    "a document that moved to the next page comes once",
  ],
  [[[1], [], [2]], [1, 2], 3, "an empty page is not the end"],
] as [number[][], number[], number, string][])(
  "%j lists as %j in %i requests: %s",
  async ([ids, all, requests]) => {
    const { archive, asked } = listing(ids);
    expect(await idsOf(allDocuments(archive, { folderId: 7 }, never))).toEqual(all);
    expect(asked).toEqual(
      Array.from({ length: requests }, (_, paginationIndex) => ({ folderId: 7, paginationIndex })),
    );
    expect(await idsOf(allFolders(archive, {}, never))).toEqual(all);
  },
);

test("pages are asked for only when they are wanted", async () => {
  const { archive, asked } = listing([[1, 2], [3, 4], [5]]);
  const found: DocumentDetail[] = [];
  for await (const document of allDocuments(archive, {}, never)) {
    found.push(document);
    if (document.id === 3) break;
  }
  expect([found.length, asked.length]).toEqual([3, 2]);
});

test("a list without end is given up", async () => {
  let asked = 0;
  const endless = pages(async () => {
    asked++;
    return { paginationPages: 1e9, paginationSize: 1 };
  }, 5);
  const walk = (async () => {
    for await (const _ of endless) {
      // Only walking counts.
    }
  })();
  expect(await errorOf(walk)).toMatchObject({ code: "TOO_MANY_PAGES" });
  expect(asked).toBe(5);
});
