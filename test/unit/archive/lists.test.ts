import { describe, expect, test } from "vitest";
import type { Archive } from "../../../src/archive/archive.ts";
import { HttpArchive } from "../../../src/archive/http-archive.ts";
import type { EmbeddedArchive } from "../../../src/embedded-archive/embedded-archive.ts";
import { systemClock } from "../../../src/std/clock.ts";
import { findArchived } from "../../../src/sync/adopter.ts";
import { Folders } from "../../../src/sync/folders.ts";
import { SendGuard } from "../../../src/sync/send-guard.ts";
import { WholeArchive } from "../../../src/sync/whole-archive.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";
import { inState } from "../../fixtures/a-document.ts";
import { ACCOUNT_KEY, aWorld, SECRET } from "../../fixtures/world.ts";
import { errorOf, never, scan } from "./fixture.ts";
import { allDocuments, allFolders, pages } from "../../../src/archive/paging.ts";
import type { DocumentDetail } from "../../../src/wire/shapes.ts";
import { detail } from "./raw-server.ts";
import { audit } from "../../../src/report/audit.ts";

/** A list proves nothing unless it is a list: who reads one, over HTTP, from an archive that leaves it out. */
describe("hollow lists", () => {
  const never = new AbortController().signal;
  const BYTES = Buffer.from("a letter");

  type Parts = { readonly archive: Archive; readonly folderId: number };

  /** Everything that reads a list, and what it says of an archive that holds `scan.pdf` in /Scans. */
  const READERS: readonly (readonly [
    name: string,
    on: "documents" | "folders",
    read: (parts: Parts) => Promise<unknown>,
    found: unknown,
  ])[] = [
    [
      "folders by path",
      "folders",
      ({ archive }) => new Folders(archive).resolve("/Scans", never),
      { kind: "found" },
    ],
    [
      "the first run",
      "documents",
      ({ archive, folderId }) => {
        const outgoing = { sentName: "scan.pdf", sizeBytes: BYTES.length, folderId };
        return new SendGuard(archive, undefined).objection(outgoing, [1], never);
      },
      { code: "FIRST_RUN" },
    ],
    [
      "adopt",
      "documents",
      async ({ archive }) => {
        const seen = { sizeBytes: BYTES.length, modifiedAt: 0, stamp: "a" };
        const file = inState("pending", { sentName: "scan.pdf", targetPath: "/Scans", seen });
        const journal = new MemoryJournal();
        const mirrorIds = new Set([file.mirrorId]);
        const looking = { journal, archive, mirrorIds, whole: new WholeArchive(archive) };
        return Array.fromAsync(findArchived(looking, [file], never));
      },
      [{ taken: { filename: "scan.pdf" } }],
    ],
    [
      "verify",
      "documents",
      async ({ archive, folderId }) => {
        const own = { journal: new MemoryJournal(), archiveId: 1, convertedBefore: 0 };
        return Array.fromAsync(audit({ ...own, archive, folderIds: [folderId] }, never));
      },
      [{ kind: "unknown", path: "scan.pdf" }],
    ],
  ];

  async function anArchive(embedded: EmbeddedArchive): Promise<HttpArchive> {
    const { url } = embedded;
    const signing = {
      scheme: "hmac",
      algorithm: "sha256",
      encoding: "base64",
      secret: SECRET,
    } as const;
    const settings = { url, accountKey: ACCOUNT_KEY, signing, timeoutMs: 60_000, connections: 2 };
    const archive = await HttpArchive.open(settings, systemClock);
    await archive.upload(
      scan({ sizeBytes: BYTES.length, bytes: BYTES }, { folderId: undefined, path: "/Scans" }),
      never,
    );
    await embedded.idle();
    return archive;
  }

  describe.for(READERS)("%s", ([, on, read, found]) => {
    test("asks again for what is no list, and believes it at no time", async () => {
      await using world = await aWorld();
      await using archive = await anArchive(world.archive);
      const folderId = world.archive.documents()[0]?.folderId ?? 0;
      const parts = { archive, folderId };
      expect(await read(parts)).toMatchObject(found as object);
      for (const lists of ["absent", "null", "empty"] as const) {
        world.archive.setFaults([{ do: "hollow", lists, on, times: 2 }]);
        expect(await read(parts), lists).toMatchObject(found as object);
        world.archive.setFaults([{ do: "hollow", lists, on, times: Infinity }]);
        await expect(read(parts), lists).rejects.toMatchObject({
          kind: "inDoubt",
          code: "REPLY_UNREADABLE",
        });
      }
    });
  });
});

describe("paging", () => {
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
        Array.from({ length: requests }, (_, paginationIndex) => ({
          folderId: 7,
          paginationIndex,
        })),
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
});
