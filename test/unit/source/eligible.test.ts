import { expect, test } from "vitest";
import { eligibility } from "../../../src/source/eligible.ts";
import { IGNORED } from "../../../src/source/ignored.ts";
import type { SourceSettings } from "../../../src/source/source.ts";
import type { RawPath } from "../../../src/std/raw-path.ts";
import { raw, settingsOf } from "./scratch.ts";

function eligibleWith(settings: Partial<SourceSettings>) {
  return eligibility(settingsOf("/srv/scans", settings));
}

test.for([
  ["sample.doc", true, "an ordinary name"],
  ["part.pdf", true, "only an ending says that a file is a part"],
  ["Thumbs.db.pdf", true, "a whole name is meant, not a beginning"],
  ["scan.part1.pdf", true, "the same"],
  ["tmp", true, "a name is no ending"],
  ["~notes.pdf", true, "a tilde alone locks nothing"],
  ["@home.pdf", true, "an at sign alone is no network drive's"],
  [".hidden.pdf", true, "a leading dot is no reason"],
  [".part.pdf", true, "the same"],
  ["lost+found", true, "a file of that name is a file"],
  ["100%.pdf", true, "an ordinary name"],
  ["a\nb.pdf", true, "a newline is a character like any other"],
  ["scan.pdf.part", false, "a copy under way"],
  ["Scan.PDF.PART", false, "without regard to case"],
  ["a.crdownload", false, "a download under way"],
  ["a.tmp", false, "temporary"],
  ["a.filepart", false, "a transfer under way"],
  [".in.scan.pdf.", false, "ProFTPD, with HiddenStores"],
  [".in.scan.pdf", true, "no dot at the end"],
  [".pureftpd-upload.5f3a1b2c.15.7a1.1b2c3d4e", false, "Pure-FTPd"],
  [".scan.pdf.~3f2a1b", false, "Nextcloud"],
  [".scan.pdf.~x", true, "no hexadecimal number"],
  ["scan.pdf.~3f2a1b", true, "no leading dot"],
  [".scan.pdf.Ab12Cd", false, "rsync"],
  ["scan.pdf.Ab12Cd", true, "no leading dot"],
  [".scan.Ab12Cd", true, "no inner dot: a hidden file with an ending of its own"],
  [".scan.tar.Ab12C", true, "five characters"],
  [".scan.tar.Ab12Cde", true, "seven"],
  [".scan.2026.ab-2cd", true, "not all of them letters or digits"],
  ["~$Letter.docx", false, "Word's lock"],
  [".~lock.Letter.odt#", false, "LibreOffice's lock"],
  ["letter.txt~", false, "an editor's backup"],
  [".letter.txt.swp", false, "vim's swap file"],
  [".nfs000000000123abcd00000001", false, "deleted and still open, on NFS"],
  [".fuse_hidden0000012300000001", false, "deleted and still open, on FUSE"],
  ["Thumbs.db", false, "Windows"],
  ["THUMBS.DB", false, "Windows, loudly"],
  ["desktop.ini", false, "Windows"],
  [".DS_Store", false, "macOS"],
  ["._scan.pdf", false, "macOS on a share"],
  [".scanferry-scan.pdf-0123abcd", false, "our own, put aside"],
  [".scanferry~0123abcd0123abcd", false, "our own, a copy under way"],
  ["@eaDir/scan.pdf/thumb.jpg", false, "whatever is below a directory that is left out"],
  ["2026/#recycle/scan.pdf", false, "the same"],
  ["2026/.@__thumb/scan.pdf", false, "the same"],
  ["$RECYCLE.BIN/a.pdf", false, "the same"],
  ["System Volume Information/a", false, "the same"],
  ["lost+found/#123", false, "the same"],
  [".Trash-1000/files/a.pdf", false, "the same"],
  ["@Recycle/a.pdf", false, "the same"],
  [".snapshot/hourly/a.pdf", false, "the same"],
] as const)("file %j is taken: %s, %s", ([name, taken]) => {
  expect(eligibleWith({}).file(raw(name))).toBe(taken);
});

test("every entry of the list says why, and catches no plain name", () => {
  const { file, directory } = eligibleWith({});
  for (const { because } of IGNORED) expect(because).not.toBe("");
  for (const name of ["scan.pdf", "a", "2026", "Invoices", "scan (2).pdf", "Ünï.tiff"]) {
    expect([name, file(raw(name)), directory(raw(name))]).toEqual([name, true, true]);
  }
});

test.for([
  [["**/*.pdf"], [], "a/b.PDF", true, "case does not count"],
  [["**/*.pdf"], [], "b.pdf", true, "two stars may stand for no directory"],
  [["**/*.pdf"], [], "b.tiff", false, "not included"],
  [["*.pdf"], [], "a/b.pdf", false, "one star stays in its directory"],
  [["**/*"], ["**/draft*"], "a/Draft.pdf", false, "excluded"],
  [["**/*"], ["drafts/**"], "drafts/a/b.pdf", false, "excluded whole"],
  [["**/*"], ["drafts/**"], "drafts2/b.pdf", true, "another directory"],
  [["**/*.{pdf,tif}"], [], "a.tif", true, "braces"],
  [["März/**"], [], "Ma\u0308rz/a.pdf", true, "composed or not, it is the same name"],
  [["**/*.pdf"], [], ".a/.b.pdf", true, "dots are characters"],
  [[], [], "a.pdf", false, "nothing is included"],
] as const)("include %j, exclude %j: %s is taken: %s, %s", ([include, exclude, path, taken]) => {
  expect(eligibleWith({ include, exclude }).file(raw(path))).toBe(taken);
});

test.for([
  ["", true, "the source itself"],
  ["a", true, "nothing against it"],
  ["drafts", false, "an exclude that ends in /** leaves it out whole"],
  ["drafts/2026", false, "and what is below it"],
  ["done", false, "finished files are moved there"],
  ["done/2026", false, "the same"],
  ["done-2", true, "a name that only begins alike"],
  ["x.bak", true, "a glob without /** is about files"],
] as const)("directory %j is entered: %s, %s", ([dir, entered]) => {
  const exclude = ["drafts/**", "**/*.bak"];
  expect(eligibleWith({ exclude, without: ["done/"] }).directory(raw(dir))).toBe(entered);
});

test("a name that is not UTF-8 is compared as Latin-1, the names around it as they are", () => {
  const path = `${raw("Ärzte")}/M\xe4rz.pdf` as RawPath;
  expect(eligibleWith({ include: ["ärzte/märz.*"] }).file(path)).toBe(true);
  expect(eligibleWith({ include: ["ärzte/mai.*"] }).file(path)).toBe(false);
});
