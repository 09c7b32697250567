import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DocumentDetail, FolderDetail } from "../../../src/wire/shapes.ts";
import { asiceOf, pdfOf, tiffOf } from "../../fixtures/documents.ts";
import { writeZip } from "../../fixtures/zip-writer.ts";
import { ArchiveUnderTest } from "./archive-under-test.ts";

let under: ArchiveUnderTest;

beforeAll(async () => {
  under = await ArchiveUnderTest.open({ folders: ["/Arved/Märts", "/Lepingud"] });
  under.archive.describeFolder("/Lepingud", {
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
    [{ folderName: "lep", docFilename: "pdf" }, ["Invoice.pdf"], ["Lepingud"], "each of its kind"],
    [{ pagesStart: "2", pagesEnd: "4" }, ["Invoice.pdf", "photo.tiff"], [], "both ends inclusive"],
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
