import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type DocumentDetail,
  type FolderDetail,
  type Operation,
} from "../../../src/wire/shapes.ts";
import { asiceOf, pdfOf, tiffOf } from "../../fixtures/documents.ts";
import { writeZip } from "../../fixtures/zip-writer.ts";
import { ArchiveUnderTest } from "./archive-under-test.ts";

describe("search", () => {
  let under: ArchiveUnderTest;

  beforeAll(async () => {
    under = await ArchiveUnderTest.open({ folders: ["/Arved/Märts", "/Lepingud"] });
    under.archive.createFolder("/Lepingud", {
      index: "7-1/2",
      description: "All contracts",
      keywords: "law, SIGNED",
      expireDate: 1,
    });
    const letter = "<w:p><w:t>Dear</w:t></w:p><w:p><w:t>pine</w:t><w:t>apple</w:t></w:p>";
    await under.store("Invoice.pdf", pdfOf(4, { title: "Arve ÄRI", text: "seventeen bananas" }), {
      metadataSubject: "money",
      metadataKeywords: "scan-42",
      expireDate: "2030-01-01",
    });
    await under.store("photo.tiff", tiffOf(2), { metadataAuthor: "Jüri", path: "/Arved/Märts" });
    await under.store("notes 100%.txt", "a word about bananas, İzmir, ė\u0301jimas, हिन्दी");
    await under.store("deal.asice", asiceOf({ "terms.txt": "the kumquat clause" }));
    await under.store(
      "letter.docx",
      writeZip([{ name: "word/document.xml", data: Buffer.from(letter) }]),
    );
    await under.archive.idle();
  });
  afterAll(() => under[Symbol.asyncDispose]());

  const DOCUMENTS = ["deal.asice", "Invoice.pdf", "letter.docx", "notes 100%.txt", "photo.tiff"];
  const FOLDERS = ["/", "Arved", "Lepingud", "Märts"];

  describe("search", () => {
    test.for([
      [{}, DOCUMENTS, FOLDERS, "no criteria: everything, by name"],
      [{ query: "INVOICE" }, ["Invoice.pdf"], [], "a name, whatever its capitals"],
      [{ query: "ä" }, ["Invoice.pdf"], ["Märts"], "metadata and folders; capitals beyond ASCII"],
      [{ query: "bananas" }, ["Invoice.pdf", "notes 100%.txt"], [], "the text of PDFs and texts"],
      [{ query: "banan about" }, ["notes 100%.txt"], [], "all the words, by their beginnings"],
      [{ query: "İZMIR" }, ["notes 100%.txt"], [], "a letter that lower case takes apart"],
      [{ query: "ė\u0301jim" }, ["notes 100%.txt"], [], "an accent that no letter has taken up"],
      [{ query: "हिन्दी" }, ["notes 100%.txt"], [], "vowels that are marks"],
      [{ query: "bananas", queryContent: "false" }, [], [], "contents left out"],
      [{ query: "kumquat" }, ["deal.asice"], [], "what is inside a digidoc finds the digidoc"],
      [{ query: "terms" }, ["deal.asice"], [], "so does a name inside it"],
      [{ query: "pineapple" }, ["letter.docx"], [], "office files, without their tags"],
      [{ query: "100%" }, ["notes 100%.txt"], [], "no wildcards"],
      [{ query: '" OR rowid:*' }, [], [], "no query language"],
      [{ docFilename: ".TIFF" }, ["photo.tiff"], [], "a document's criterion leaves folders out"],
      [{ docTitle: "arve" }, ["Invoice.pdf"], [], "the title, from the file"],
      [{ docAuthor: "jüri" }, ["photo.tiff"], [], "the author, from the upload"],
      [{ docSubject: "mon" }, ["Invoice.pdf"], [], "the subject"],
      [{ docKeywords: "scan-42" }, ["Invoice.pdf"], [], "the keywords"],
      [{ docKeywords: "scan-42", docAuthor: "jüri" }, [], [], "both must hold"],
      [{ docHasExpireDate: "true" }, ["Invoice.pdf"], [], "with a date"],
      [{ docHasExpireDate: "0", docFilename: "pdf" }, [], [], "without a date"],
      [{ folderName: "lep" }, [], ["Lepingud"], "a folder's criterion leaves documents out"],
      [{ folderIndex: "7-1" }, [], ["Lepingud"], "the designation"],
      [{ folderDescription: "contracts" }, [], ["Lepingud"], "the description"],
      [{ folderKeywords: "signed" }, [], ["Lepingud"], "the keywords"],
      [{ folderHasExpireDate: "true" }, [], ["Lepingud"], "with a date"],
      [{ folderHasExpireDate: "false" }, [], ["/", "Arved", "Märts"], "without a date"],
      [
        { folderName: "lep", docFilename: "pdf" },
        ["Invoice.pdf"],
        ["Lepingud"],
        "each of its kind",
      ],
      [
        { pagesStart: "2", pagesEnd: "4" },
        ["Invoice.pdf", "photo.tiff"],
        [],
        "both ends inclusive",
      ],
      [{ pagesStart: "3" }, ["Invoice.pdf"], [], "open above"],
      [{ filesizeEnd: "70" }, ["notes 100%.txt"], [], "bytes, inclusive"],
      [{ createdDateEnd: "2001-01-01" }, [], [], "nothing is that old"],
      [{ createdDateStart: "2001-01-01" }, DOCUMENTS, FOLDERS, "all is younger"],
      [{ modifiedDateEnd: "2001-01-01" }, [], [], "nothing is that old"],
      [{ modifiedDateStart: "2001-01-01" }, DOCUMENTS, [], "folders are not modified"],
      [
        { sortBy: "PAGES", sortDesc: "true", pagesStart: "2" },
        ["Invoice.pdf", "photo.tiff"],
        [],
        "order",
      ],
      [
        { sortBy: "EXPIRE_DATE", docFilename: "o" },
        ["Invoice.pdf", "photo.tiff", "notes 100%.txt", "letter.docx"],
        [],
        "dated first",
      ],
      [{ paginationSize: "2" }, DOCUMENTS.slice(0, 2), [], "a page of both together"],
      [
        { paginationSize: "3", paginationIndex: "1" },
        DOCUMENTS.slice(3),
        FOLDERS.slice(0, 1),
        "over the seam",
      ],
    ] as [Record<string, string>, string[], string[], string][])(
      "%j: %j and %j: %s",
      async ([fields, documents, folders]) => {
        const { body } = await under.ask("search", fields);
        const found = {
          documents: (body["documents"] as DocumentDetail[]).map(({ filename }) => filename),
          folders: (body["folders"] as FolderDetail[]).map(({ name }) => name),
        };
        expect(found).toEqual({ documents, folders });
      },
    );
  });
});

/** Lists and search over random trees and documents, against a model that only filters and sorts. */
describe("search model", () => {
  const word = fc.constantFrom(
    "arve",
    "Leping",
    "ÄRI",
    "2026",
    "a%b",
    "x_y",
    'q"t',
    "pine",
    "e\u0301",
    "äri",
    "STRASSE",
    "Straße",
    "οδός",
    "ΟΔΌΣ",
  );
  const phrase = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(" "));
  const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

  const documents = fc.array(
    fc.record({
      filename: phrase.map((text) => `${text.replaceAll(/["*?]/g, "")}.txt`),
      place: fc.nat(),
      content: fc.array(word, { maxLength: 4 }).map((words) => ` ${words.join(" ")}`),
      expireDate: maybe(fc.constantFrom("1000", "2000", "3000")),
      metadataTitle: maybe(phrase),
      metadataAuthor: maybe(phrase),
      metadataSubject: maybe(phrase),
      metadataKeywords: maybe(phrase),
    }),
    { minLength: 1, maxLength: 14 },
  );
  const folders = fc.array(
    fc.record({
      name: word,
      parent: fc.nat(),
      index: maybe(word),
      keywords: maybe(phrase),
      description: maybe(phrase),
      expireDate: maybe(fc.constantFrom(1000, 2000)),
    }),
    { maxLength: 7 },
  );

  /** A part of what may occur, short and long, in other capitals. */
  const part = fc.oneof(word, phrase, fc.constantFrom("a", "ar", "PIN", "ä", "%", '"', "zzz"));
  const flag = fc.constantFrom("true", "false");
  const size = fc.integer({ min: 0, max: 30 }).map(String);
  const everything = fc.record({
    query: part,
    queryContent: flag,
    docFilename: part,
    docTitle: part,
    docAuthor: part,
    docSubject: part,
    docKeywords: part,
    docHasExpireDate: flag,
    folderName: part,
    folderIndex: part,
    folderDescription: part,
    folderKeywords: part,
    folderHasExpireDate: flag,
    filesizeStart: size,
    filesizeEnd: size,
    pagesStart: fc.constantFrom("0", "1", "2"),
    pagesEnd: fc.constantFrom("0", "1", "2"),
    createdDateStart: fc.constantFrom("0", "9000000000000"),
    modifiedDateEnd: fc.constantFrom("0", "9000000000000"),
  });

  /** Each of them alone, and some of them together: all must hold. */
  const criteria = everything.chain((all) => {
    const names = Object.keys(all) as (keyof typeof all)[];
    const picked = (some: (keyof typeof all)[]): Record<string, string> =>
      Object.fromEntries(some.map((name) => [name, all[name]]));
    return fc
      .array(fc.subarray(names, { minLength: 2, maxLength: 3 }), { minLength: 4, maxLength: 4 })
      .map((together) => [...names.map((name) => [name]), ...together, []].map(picked));
  });

  const order = fc.record({
    sortBy: fc.constantFrom("NAME", "PAGES", "CREATED_DATE", "UPLOADED_DATE", "EXPIRE_DATE"),
    sortDesc: flag,
    paginationSize: fc.constantFrom("1", "2", "5", "100"),
  });

  type Item = Record<string, string | number | undefined> & { id: number };
  type Model = { documents: Item[]; folders: Item[] };
  type Asked = Record<string, string>;

  const folded = (text: string | number | undefined) =>
    String(text ?? "")
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .replaceAll("ς", "σ")
      .normalize("NFC");
  const contains = (text: string | number | undefined, wanted: string | undefined) =>
    wanted === undefined || (text !== undefined && folded(text).includes(folded(wanted)));
  const between = (value: unknown, start?: string, end?: string) =>
    (start === undefined || Number(value) >= Number(start)) &&
    (end === undefined || Number(value) <= Number(end));
  const dated = (item: Item, wanted: string | undefined) =>
    wanted === undefined || (item["expireDate"] !== undefined) === (wanted === "true");
  const wordsOf = (text: string | number | undefined) =>
    folded(text).match(/[\p{L}\p{N}]+/gu) ?? [];

  function hasWords(content: string | number | undefined, query: string): boolean {
    const wanted = wordsOf(query);
    const there = wordsOf(content);
    return wanted.length > 0 && wanted.every((w) => there.some((one) => one.startsWith(w)));
  }

  const LABELS = [
    "filename",
    "metadataTitle",
    "metadataAuthor",
    "metadataSubject",
    "metadataKeywords",
  ];

  function isFoundDocument(item: Item, asked: Asked): boolean {
    const { query } = asked;
    const labels = LABELS.some(
      (label) => item[label] !== undefined && contains(item[label], query),
    );
    const content = asked["queryContent"] !== "false" && hasWords(item["content"], query ?? "");
    return (
      (query === undefined || labels || content) &&
      contains(item["filename"], asked["docFilename"]) &&
      contains(item["metadataTitle"], asked["docTitle"]) &&
      contains(item["metadataAuthor"], asked["docAuthor"]) &&
      contains(item["metadataSubject"], asked["docSubject"]) &&
      contains(item["metadataKeywords"], asked["docKeywords"]) &&
      dated(item, asked["docHasExpireDate"]) &&
      between(item["size"], asked["filesizeStart"], asked["filesizeEnd"]) &&
      between(1, asked["pagesStart"], asked["pagesEnd"]) &&
      between(item["createdDate"], asked["createdDateStart"]) &&
      asked["modifiedDateEnd"] !== "0"
    );
  }

  function isFoundFolder(item: Item, asked: Asked): boolean {
    const { query } = asked;
    const texts = ["name", "index", "description", "keywords"];
    return (
      (query === undefined || texts.some((text) => contains(item[text] ?? "", query))) &&
      contains(item["name"], asked["folderName"]) &&
      contains(item["index"] ?? "", asked["folderIndex"]) &&
      contains(item["description"] ?? "", asked["folderDescription"]) &&
      contains(item["keywords"] ?? "", asked["folderKeywords"]) &&
      dated(item, asked["folderHasExpireDate"]) &&
      between(item["createdDate"], asked["createdDateStart"])
    );
  }

  function idsFound(model: Model, asked: Asked): string[] {
    const speaks = (pattern: RegExp) => Object.keys(asked).some((name) => pattern.test(name));
    const ofDocuments = speaks(/^(?:doc|modified|filesize|pages)/);
    const ofFolders = speaks(/^folder/);
    const documents = ofFolders && !ofDocuments ? [] : model.documents;
    const folders = ofDocuments && !ofFolders ? [] : model.folders;
    return [
      ...documents.filter((item) => isFoundDocument(item, asked)).map(({ id }) => `d${id}`),
      ...folders.filter((item) => isFoundFolder(item, asked)).map(({ id }) => `f${id}`),
    ];
  }

  type FolderGiven = { name: string; parent: number } & Record<string, string | number | undefined>;
  type DocumentGiven = { filename: string; place: number; content: string } & Record<
    string,
    string | number | undefined
  >;

  const present = (given: object) =>
    Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

  /** Makes the folders; what each says is what the last description of it said. */
  async function plant(under: ArchiveUnderTest, given: FolderGiven[]) {
    const says = new Map<string, Record<string, string | number>>([["", {}]]);
    for (const { name, parent, ...given_ } of given) {
      const paths = [...says.keys()];
      const path = `${paths[parent % paths.length]}/${name}`;
      under.archive.createFolder(path, present(given_));
      says.set(path, { ...says.get(path), ...present(given_) });
    }
    return says;
  }

  async function fill(
    under: ArchiveUnderTest,
    trees: FolderGiven[],
    files: DocumentGiven[],
  ): Promise<Model> {
    const model: Model = { documents: [], folders: [] };
    const says = await plant(under, trees);
    const paths = [...says.keys()];
    for (const [path, said] of says) {
      const id = under.archive.createFolder(path === "" ? "/" : path);
      const { body } = await under.ask("folder", { id: String(id) });
      model.folders.push({ ...(body["folder"] as Item), ...said, path });
    }
    for (const { place, content, ...fields } of files) {
      const path = paths[place % paths.length] || "/";
      const sent = present(fields) as Record<string, string>;
      const { id } = await under.store(fields.filename, content, { ...sent, path });
      model.documents.push({ ...sent, id, content, size: Buffer.byteLength(content) });
    }
    await under.archive.idle();
    for (const item of model.documents) {
      const { body } = await under.ask("document", { id: String(item.id) });
      Object.assign(item, { ...(body["document"] as Item) });
    }
    return model;
  }

  /** Capitals count in no alphabet, and texts compare by the bytes of their UTF-8. */
  const nameOf = (item: Item) => Buffer.from(folded(item["documentName"] ?? item["name"]));

  function compared(a: Item, b: Item, sortBy: string, direction: number): number {
    if (sortBy === "NAME") return direction * (Buffer.compare(nameOf(a), nameOf(b)) || a.id - b.id);
    if (sortBy === "EXPIRE_DATE") {
      const [x, y] = [a, b].map((item) => Number(item["expireDate"] ?? Number.NaN)) as [
        number,
        number,
      ];
      if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
      return direction * ((Number.isNaN(x) ? 0 : x - y) || a.id - b.id);
    }
    const key = { PAGES: "pages", UPLOADED_DATE: "uploadedDate" }[sortBy] ?? "createdDate";
    const valueOf = (item: Item) => Number(item[key] ?? item["createdDate"]);
    return direction * (valueOf(a) - valueOf(b) || a.id - b.id);
  }

  type Order = { sortBy: string; sortDesc: string; paginationSize: string };

  function inOrder(items: Item[], { sortBy, sortDesc }: Order): Item[] {
    return items.toSorted((a, b) => compared(a, b, sortBy, sortDesc === "true" ? -1 : 1));
  }

  /** All pages, one after another. */
  async function paged(under: ArchiveUnderTest, operation: Operation, asked: Asked) {
    const ids: string[] = [];
    for (let index = 0, pages = 1; index < pages; index++) {
      const { body } = await under.ask(operation, { ...asked, paginationIndex: String(index) });
      pages = Number(body["paginationPages"]);
      const of = (kind: string) => (body[kind] ?? []) as Item[];
      const items = [
        ...of("documents").map(({ id }) => `d${id}`),
        ...of("folders").map(({ id }) => `f${id}`),
      ];
      expect(items.length).toBeLessThanOrEqual(Number(asked["paginationSize"]));
      ids.push(...items);
    }
    return ids;
  }

  // Each run fills an archive of its own over HTTP.
  const PATIENT = { timeout: 900_000 };

  test("search finds what the model finds, in its order, page by page", PATIENT, async () => {
    const law = fc.asyncProperty(
      folders,
      documents,
      criteria,
      order,
      async (trees, files, asks, ordered) => {
        await using under = await ArchiveUnderTest.open();
        const model = await fill(under, trees, files);
        const sorted = {
          documents: inOrder(model.documents, ordered),
          folders: inOrder(model.folders, ordered),
        };
        for (const asked of asks) {
          const found = await paged(under, "search", { ...asked, ...ordered });
          expect({ asked, ordered, found }).toEqual({
            asked,
            ordered,
            found: idsFound(sorted, asked),
          });
        }
      },
    );
    await fc.assert(law, { numRuns: 10, endOnFailure: true });
  });

  test("lists show what was put there, in the model's order, page by page", PATIENT, async () => {
    const law = fc.asyncProperty(folders, documents, order, async (trees, files, ordered) => {
      await using under = await ArchiveUnderTest.open();
      const model = await fill(under, trees, files);
      for (const folder of model.folders) {
        const asked = { ...ordered, folderId: String(folder.id) };
        const inside = model.documents.filter((item) => item["folderId"] === folder.id);
        const listed = inOrder(inside, ordered).map(({ id }) => `d${id}`);
        expect(await paged(under, "documents", asked)).toEqual(listed);
        const sortBy = ordered.sortBy === "NAME" ? "NAME" : "CREATED_DATE";
        const below = model.folders.filter((item) => item["parentId"] === folder.id);
        const names = inOrder(below, { ...ordered, sortBy }).map(({ id }) => `f${id}`);
        expect(await paged(under, "folders", { ...asked, sortBy })).toEqual(names);
      }
    });
    await fc.assert(law, { numRuns: 6, endOnFailure: true });
  });
});
