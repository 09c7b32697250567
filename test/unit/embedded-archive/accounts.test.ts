/** Several companies in one archive: what one has does not exist for the other. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Operation } from "../../../src/wire/shapes.ts";
import { ArchiveUnderTest, outcomeOf } from "../../contract/conformance/archive-under-test.ts";
import { asiceOf } from "../../fixtures/documents.ts";

const ONE = { key: "one", secret: "first" };
const TWO = { key: "two", secret: "second" };
let under: ArchiveUnderTest;
let theirs: { folder: string; root: string; document: string; digidoc: string; inner: string };

beforeAll(async () => {
  under = await ArchiveUnderTest.open({ accounts: [ONE, TWO], quotaPages: 4 });
  const folder = under.archive.createFolder("/Theirs/Deep", "one");
  const sent = { filename: "theirs.txt", folderId: String(folder), expireDate: "5" };
  const { body } = await under.upload(sent, "kumquat", ONE);
  const container = asiceOf({ "inner.txt": "persimmon" });
  const digidoc = await under.upload({ filename: "theirs.asice" }, container, ONE);
  await under.archive.idle();
  const id = (reply: Record<string, unknown>) => String((reply["document"] as { id: number }).id);
  const list = await under.ask("digidoc", { digidocId: id(digidoc.body) }, ONE);
  const root = (await under.ask("folder", {}, ONE)).body["folder"] as { id: number };
  theirs = {
    folder: String(folder),
    root: String(root.id),
    document: id(body),
    digidoc: id(digidoc.body),
    inner: String((list.body["documents"] as { id: number }[])[0]?.id),
  };
});
afterAll(() => under[Symbol.asyncDispose]());

test.for([
  ["document", "id", "document", "DOC_NOT_EXIST"],
  ["document", "id", "digidoc", "DOC_NOT_EXIST"],
  ["document", "id", "inner", "DOC_NOT_EXIST"],
  ["digidoc", "digidocId", "digidoc", "DOC_NOT_EXIST"],
  ["documents", "folderId", "folder", "FOLDER_NOT_EXISTS"],
  ["documents", "folderId", "root", "FOLDER_NOT_EXISTS"],
  ["folders", "folderId", "folder", "FOLDER_NOT_EXISTS"],
  ["folders", "folderId", "root", "FOLDER_NOT_EXISTS"],
  ["folder", "id", "folder", "FOLDER_NOT_EXISTS"],
  ["folder", "id", "root", "FOLDER_NOT_EXISTS"],
  ["upload", "folderId", "folder", "FOLDER_NOT_EXISTS"],
  ["upload", "folderId", "root", "FOLDER_NOT_EXISTS"],
] as [Operation, string, keyof typeof theirs, string][])(
  "%s with %s of the other account's %s gives %s",
  async ([operation, name, what, expected]) => {
    const fields = { [name]: theirs[what] };
    const ask = (account: typeof ONE) =>
      operation === "upload"
        ? under.upload({ filename: "x:", ...fields }, "a", account)
        : under.ask(operation, fields, account);
    if (operation === "upload") {
      const reply = await under.upload({ filename: "x.txt", ...fields }, "a", TWO);
      expect(outcomeOf(reply)).toBe(expected);
      expect(outcomeOf(await ask(ONE))).toBe("INVALID_FILENAME");
    } else {
      expect(outcomeOf(await ask(TWO))).toBe(expected);
      expect(outcomeOf(await ask(ONE))).toBe("OK");
    }
  },
);

test.for([
  [{}, "everything"],
  [{ query: "kumquat" }, "words of their contents"],
  [{ query: "persimmon" }, "words inside their digidoc"],
  [{ query: "theirs" }, "their names"],
  [{ docFilename: "theirs" }, "their file names"],
  [{ docHasExpireDate: "true" }, "their dates"],
  [{ folderName: "deep" }, "their folders"],
  [{ query: "it" }, "too short for an index"],
] as [Record<string, string>, string][])(
  "search with %j finds nothing of theirs: %s",
  async ([fields]) => {
    const { body } = await under.ask("search", fields, TWO);
    const roots = Object.keys(fields).length === 0 ? [{ root: true }] : [];
    expect(body).toMatchObject({ documents: [], folders: roots });
    const own = await under.ask("search", fields, ONE);
    const found = [own.body["documents"], own.body["folders"]].flat();
    expect(found.length > 0 || fields["query"] === "it").toBe(true);
  },
);

test("paths start at the own root, keys and secrets do not mix, and pages are counted apart", async () => {
  const path = { filename: "a.txt", path: "/Theirs/Deep" };
  expect(outcomeOf(await under.upload(path, "a", TWO))).toBe("FOLDER_NOT_EXISTS");
  expect(outcomeOf(await under.ask("folder", {}, { key: "one", secret: "second" }))).toBe(
    "INVALID_SIG",
  );
  const upload = () => under.upload({ filename: "a.txt" }, "a", TWO);
  for (let page = 0; page < 4; page++) expect(outcomeOf(await upload())).toBe("OK");
  expect(outcomeOf(await upload())).toBe("QUOTA_LIMIT");
  expect([under.archive.pagesUsed("one"), under.archive.pagesUsed("two")]).toEqual([2, 4]);
  expect(outcomeOf(await under.upload({ filename: "a.txt" }, "a", ONE))).toBe("OK");
});

test("the same bytes of both are stored once, and belong to each", async () => {
  for (const account of [ONE, TWO]) {
    under.archive.setQuota(undefined, account.key);
    await under.upload({ filename: "same.txt" }, "the same", account);
  }
  const same = (key: string) =>
    under.archive.documents(key).filter(({ filename }) => filename === "same.txt");
  expect(same("one")).toHaveLength(1);
  expect(same("two")).toHaveLength(1);
  expect(same("one")[0]?.sha256).toBe(same("two")[0]?.sha256);
});
