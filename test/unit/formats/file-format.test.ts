import { expect, test } from "vitest";
import { type FileFormat, kindOf } from "../../../src/formats/file-format.ts";
import { asiceOf, ddocOf, pdfOf, pngOf, tiffOf } from "../../fixtures/documents.ts";
import { writeZip } from "../../fixtures/zip-writer.ts";
import { titled } from "./titled.ts";

const latin = (text: string): Buffer => Buffer.from(text, "latin1");
const zip = writeZip([{ name: "a.txt", data: latin("a") }]);
const odf = writeZip([
  { name: "mimetype", data: latin("application/vnd.oasis.opendocument.text") },
]);
const ooxml = writeZip([{ name: "[Content_Types].xml", data: latin("<Types/>") }]);
const ole = latin("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and what follows");
const heic = latin("\0\0\0\x18ftypheic\0\0\0\0mif1heic");
const bmp = Buffer.concat([latin("BM"), Buffer.alloc(12), Buffer.of(40, 0, 0, 0)]);
const xml = latin('<?xml version="1.0"?>\n<root/>');

test.for(
  titled<[string, Buffer, FileFormat, string]>([
    ["scan.pdf", pdfOf(1), "pdf", "its magic bytes"],
    ["scan", pdfOf(1), "pdf", "the name is not needed"],
    ["scan.tif", pdfOf(1), "pdf", "bytes win over the name"],
    ["late.pdf", latin(`garbage\n${pdfOf(1).toString("latin1")}`), "pdf", "readers accept it"],
    ["about.txt", latin("A PDF begins with %PDF-1.4."), "text", "a text about PDF is a text"],
    ["a.tiff", tiffOf(1), "tiff", "little-endian"],
    ["a.tiff", latin("MM\0*\0\0\0\x08"), "tiff", "big-endian"],
    ["a.tiff", latin("II+\0\x08\0\0\0"), "tiff", "BigTIFF"],
    ["a.png", pngOf(), "png", "its magic bytes"],
    ["a.jpg", latin("\xff\xd8\xff\xe0\0\x10JFIF"), "jpeg", "its magic bytes"],
    ["a.gif", latin("GIF89a\x01\0\x01\0"), "gif", "its magic bytes"],
    ["a.webp", latin("RIFF\x10\0\0\0WEBPVP8 "), "webp", "its magic bytes"],
    ["a.wav", latin("RIFF\x10\0\0\0WAVEfmt "), "unknown", "RIFF holds sounds, too"],
    ["a.heic", heic, "heic", "its brand"],
    ["a.mp4", latin("\0\0\0\x18ftypisom\0\0\0\0"), "unknown", "a film has another brand"],
    ["a.bmp", bmp, "bmp", "its magic bytes and header"],
    ["a.txt", latin("BMW is a maker of cars"), "text", "two letters make no bitmap"],
    ["a.asice", asiceOf({ a: "a" }), "digidoc", "its mimetype"],
    ["a.zip", asiceOf({ a: "a" }), "digidoc", "its mimetype, whatever the name"],
    ["a.asics", zip, "digidoc", "a ZIP of that name"],
    ["A.BDOC", zip, "digidoc", "names are compared without case"],
    ["a.edoc", zip, "digidoc", "a ZIP of that name"],
    ["a.adoc", zip, "digidoc", "a ZIP of that name"],
    ["a.bdoc", Buffer.alloc(64), "unknown", "the name alone makes no container"],
    ["a.ddoc", ddocOf({ a: "a" }), "ddoc", "its root element"],
    ["a.bin", ddocOf({ a: "a" }), "ddoc", "its root element, whatever the name"],
    ["a.ddoc", xml, "ddoc", "XML of that name"],
    ["a.odt", odf, "office", "its mimetype"],
    ["a", ooxml, "office", "its first entry"],
    ["a.docx", zip, "office", "a ZIP of that name"],
    ["a.docx", ole, "office", "an encrypted one is an OLE file"],
    ["a.doc", ole, "office", "an OLE file of that name"],
    ["a.doc", latin("{\\rtf1\\ansi hello}"), "office", "RTF, as many a .doc is"],
    ["a.msg", ole, "mail", "an OLE file of that name"],
    ["Thumbs.db", ole, "unknown", "not every OLE file is a document"],
    ["a.eml", latin("From: a\r\nTo: b\r\n\r\nhello"), "mail", "text of that name"],
    ["a.zip", zip, "zip", "no more is known of it"],
    ["a.xml", xml, "xml", "its declaration"],
    ["a.txt", latin("hello\r\n"), "text", "nothing but text"],
    ["a.txt", latin("gr\xfc\xdfe"), "text", "latin1 of that name"],
    ["a.txt", Buffer.from("\ufeffhello", "utf16le"), "text", "UTF-16 with its mark"],
    ["README", Buffer.from("Grüße"), "text", "UTF-8 needs no name"],
    ["README", Buffer.from("aaaaü").subarray(0, 5), "text", "the head's end may cut a character"],
    ["a.pdf", Buffer.alloc(4096), "unknown", "space set aside is nothing yet"],
    ["a.txt", Buffer.alloc(0), "unknown", "nothing is nothing"],
  ]),
)("%s", ([, [name, head, kind]]) => {
  expect(kindOf(head.subarray(0, 4096), name)).toBe(kind);
});
