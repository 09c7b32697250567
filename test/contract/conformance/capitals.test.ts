/** Capitals count neither in search nor in the order of names, in whatever alphabet. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DocumentDetail, FolderDetail } from "../../../src/wire/shapes.ts";
import { asiceOf } from "../../fixtures/documents.ts";
import { ArchiveUnderTest } from "./archive-under-test.ts";

let under: ArchiveUnderTest;

/** In the order of their names. */
const NAMES = [
  "_",
  "a",
  "B",
  "c_",
  "ODOS",
  "Straße",
  "STRASSE 2",
  "Ä",
  "ä 2",
  "Õ",
  "ΟΔΟΣ",
  "οδος 2",
];

beforeAll(async () => {
  under = await ArchiveUnderTest.open();
  const shuffled = NAMES.toSorted((a, b) => (a.at(-1) ?? "").localeCompare(b.at(-1) ?? ""));
  for (const name of shuffled) await under.store(name, `the word of ${name}`);
  await under.store("0.asice", asiceOf(Object.fromEntries(shuffled.map((name) => [name, "x"]))));
  for (const name of shuffled) under.archive.createFolder(`/${name}`);
  await under.archive.idle();
});
afterAll(() => under[Symbol.asyncDispose]());

const filenamesOf = (body: Record<string, unknown>) =>
  (body["documents"] as DocumentDetail[]).map(({ filename }) => filename);
const foldersOf = (body: Record<string, unknown>) =>
  (body["folders"] as FolderDetail[]).map(({ name }) => name);

test.for([
  ["οδος", ["ΟΔΟΣ", "οδος 2"], "a sigma at the end of a word"],
  ["ΟΔΟΣ", ["ΟΔΟΣ", "οδος 2"], "the same in capitals"],
  ["οδοσ", ["ΟΔΟΣ", "οδος 2"], "a sigma that may stand in the middle"],
  ["strasse", ["Straße", "STRASSE 2"], "capitals that are two letters"],
  ["RAẞE", ["Straße", "STRASSE 2"], "a capital that is seldom used"],
  ["ä", ["Ä", "ä 2"], "a short word is looked for in every row"],
] as const)("%s finds %j: %s", async ([part, expected]) => {
  for (const criterion of ["query", "docFilename"]) {
    const { body } = await under.ask("search", { [criterion]: part, queryContent: "false" });
    expect([criterion, filenamesOf(body)]).toEqual([criterion, expected]);
  }
  const { body } = await under.ask("search", { folderName: part });
  expect(foldersOf(body)).toEqual(expected);
});

test("words of contents are found whatever their capitals", async () => {
  for (const [query, expected] of [
    ["WORD straẞ", ["Straße", "STRASSE 2"]],
    ["οδο word", ["ΟΔΟΣ", "οδος 2"]],
  ]) {
    const { body } = await under.ask("search", { query: String(query) });
    expect(filenamesOf(body)).toEqual(expected);
  }
});

test("every list is in the order of names, both ways", async () => {
  const digidoc = under.archive.documents().find(({ filename }) => filename === "0.asice");
  for (const sortDesc of ["false", "true"]) {
    const asked = { sortBy: "NAME", sortDesc };
    const expected = sortDesc === "true" ? NAMES.toReversed() : NAMES;
    const all = await under.ask("search", asked);
    expect(filenamesOf(all.body).filter((name) => name !== "0.asice")).toEqual(expected);
    expect(foldersOf(all.body).filter((name) => name !== "/")).toEqual(expected);
    const listed = await under.ask("documents", asked);
    expect(filenamesOf(listed.body).filter((name) => name !== "0.asice")).toEqual(expected);
    const inside = await under.ask("digidoc", { ...asked, digidocId: String(digidoc?.id) });
    expect(filenamesOf(inside.body)).toEqual(expected);
    expect(foldersOf((await under.ask("folders", asked)).body)).toEqual(expected);
  }
});
