/** Endpoints 7: what the upload does not say of a document is taken from the file, of office files, too. */
import { expect, test } from "vitest";
import { ArchiveUnderTest } from "../../contract/conformance/archive-under-test.ts";
import { writeZip } from "../../fixtures/zip-writer.ts";

const zipOf = (files: Record<string, string>) =>
  writeZip(
    Object.entries(files).map(([name, data]) => ({ name, data: Buffer.from(data), deflate: true })),
  );

const core = `<?xml version="1.0"?>
<cp:coreProperties><dc:title>Lease &amp; annex</dc:title><dc:subject/><dc:creator> M&#228;nd </dc:creator>
<cp:keywords>rent, 2026</cp:keywords><dc:description xml:lang="en">signed &lt;twice&gt;</dc:description>
<cp:lastModifiedBy>Someone else</cp:lastModifiedBy></cp:coreProperties>`;
const app = `<Properties><Application>Microsoft Office Word</Application><Pages>2</Pages>
<TitlesOfParts><vt:lpstr>no title</vt:lpstr></TitlesOfParts></Properties>`;

const DOCX = zipOf({
  "[Content_Types].xml": "<Types/>",
  "word/document.xml": "<w:document><w:p><w:t>words</w:t></w:p></w:document>",
  "word/embeddings/docProps/core.xml": "<a><dc:title>an object's</dc:title></a>",
  "docProps/core.xml": core,
  "docProps/app.xml": app,
});

const meta = (inner: string) => `<office:meta>${inner}</office:meta>`;
const ODT = zipOf({
  mimetype: "application/vnd.oasis.opendocument.text",
  "content.xml": "<office:text><text:p>words</text:p></office:text>",
  "meta.xml": meta(`<meta:generator>LibreOffice/25.2</meta:generator><dc:title>Protokoll</dc:title>
    <dc:creator>Last</dc:creator><meta:initial-creator>First</meta:initial-creator>
    <meta:keyword>one</meta:keyword><meta:keyword>two</meta:keyword><dc:subject>minutes</dc:subject>`),
  "Object 1/meta.xml": meta("<dc:title>a chart</dc:title><dc:description>of sums</dc:description>"),
});

const NOTHING = { title: "", author: "", producer: "", description: "" };

test.for([
  [
    "a.docx",
    DOCX,
    {
      title: "Lease & annex",
      author: "Mänd",
      producer: "Microsoft Office Word",
      description: "signed <twice>",
    },
    { docKeywords: "rent, 2026" },
  ],
  [
    "a.odt",
    ODT,
    { title: "Protokoll", author: "First", producer: "LibreOffice/25.2", description: "" },
    { docKeywords: "one, two", docSubject: "minutes" },
  ],
  [
    "changed.odt",
    zipOf({
      mimetype: "application/vnd.oasis.opendocument.text",
      "meta.xml": meta("<dc:creator>Last</dc:creator>"),
    }),
    { ...NOTHING, author: "Last" },
    { docAuthor: "last" },
  ],
  ["bare.docx", zipOf({ "word/document.xml": "<w:document/>" }), NOTHING, {}],
] as const)("%s is known by what it says of its own", async ([filename, bytes, said, criteria]) => {
  await using under = await ArchiveUnderTest.open();
  const { id } = await under.store(filename, bytes);
  await under.archive.idle();
  const { body } = await under.ask("document", { id: String(id) });
  expect(body["document"]).toMatchObject(said);
  const found = await under.ask("search", criteria);
  expect(found.body["documents"]).toMatchObject([{ id }]);
});

test("what was sent replaces what the file says, also where that is nothing", async () => {
  await using under = await ArchiveUnderTest.open();
  const sent = { metadataTitle: "ours", metadataDescription: "" };
  const { id } = await under.store("a.docx", DOCX, sent);
  await under.archive.idle();
  const { body } = await under.ask("document", { id: String(id) });
  expect(body["document"]).toMatchObject({ title: "ours", author: "Mänd", description: "" });
});
