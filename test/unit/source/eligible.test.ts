import * as fc from "fast-check";
import picomatch from "picomatch";
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
  [".hidden.pdf", false, "hidden"],
  ["2026/.a/scan.pdf", false, "in a hidden directory"],
  ["lost+found", true, "a file of that name is a file"],
  ["100%.pdf", true, "an ordinary name"],
  ["a\nb.pdf", true, "a newline is a character like any other"],
  ["scan.pdf.part", false, "a copy under way"],
  ["Scan.PDF.PART", false, "without regard to case"],
  ["a.crdownload", false, "a download under way"],
  ["a.tmp", false, "temporary"],
  ["a.filepart", false, "a transfer under way"],
  ["scan.pdf.~3f2a1b", true, "no leading dot"],
  ["scan.pdf.Ab12Cd", true, "no leading dot"],
  ["~$Letter.docx", false, "Word's lock"],
  [".~lock.Letter.odt#", false, "LibreOffice's lock"],
  ["letter.txt~", false, "an editor's backup"],
  ["Thumbs.db", false, "Windows"],
  ["THUMBS.DB", false, "Windows, loudly"],
  ["desktop.ini", false, "Windows"],
  ["@eaDir/scan.pdf/thumb.jpg", false, "whatever is below a directory that is left out"],
  ["2026/#recycle/scan.pdf", false, "the same"],
  ["2026/@__thumb/scan.pdf", false, "the same"],
  ["$RECYCLE.BIN/a.pdf", false, "the same"],
  ["System Volume Information/a", false, "the same"],
  ["lost+found/#123", false, "the same"],
  ["@Recycle/a.pdf", false, "the same"],
  ["~snapshot/hourly/a.pdf", false, "the same"],
  ["a.pdf:Zone.Identifier", false, "a stream of NTFS"],
  ["a.pdf\uf03aZone.Identifier", false, "its colon as Samba and WSL write it"],
  ["a.pdf\uf022Zone.Identifier", false, "its colon as macOS writes it"],
  ["a.pdfZone.Identifier", false, "its colon left out"],
  ["a.pdf:Zone.Identifier:$DATA", false, "with its type"],
  ["a.pdf\uf022AFP_AfpInfo", false, "a stream of AFP"],
  ["a.pdf:com.dropbox.attributes", false, "a stream of Dropbox"],
  ["a.pdf:com.apple.metadata_kMDItemWhereFroms", false, "a stream of macOS"],
  ["a: Zone.pdf", true, "a colon is a character like any other"],
  ["10:30 favicon.pdf", true, "a colon, and a stream's name within a name"],
  ["scan.pdf.sb-1a2b3c4d-Xy9aB0", false, "macOS is saving"],
  ["(A Document Being Saved By Preview 2)/scan.pdf", false, "the same, on a share"],
  ["scan.sb-1a2b3c4d.pdf", true, "no random ending"],
  ["Icon\r", false, "a folder's icon"],
  ["Icon\uf00d", false, "the same, on a share"],
  ["Icon.pdf", true, "another name"],
  ["Letter.docx.rsls", false, "a placeholder of Resilio Sync"],
  ["Letter.docx.owncloud", false, "a placeholder of ownCloud"],
  ["Letter.gdoc", false, "a link to what Google keeps"],
  ["a.!ut", false, "µTorrent"],
  ["a.bc!", false, "BitComet"],
  ["sync.ffs_db", false, "FreeFileSync"],
  ["Offer.indd.idlk", false, "InDesign's lock"],
  ["Plan.dwl2", false, "AutoCAD's lock"],
  ["Instances.laccdb", false, "Access' lock"],
  ["NEXTNAME.DAT", false, "a scanner's job data"],
  ["00000001.XST", false, "the same"],
  ["Letter (conflicted copy 2026-11-25).docx", true, "a conflict's copy is a document"],
  ["Letter.sync-conflict-20261125-101010-ABCDEFG.docx", true, "the same"],
  ["core.2026.pdf", true, "ownCloud leaves it out for a core dump"],
  ["backup.bak", true, "a person may have named it so"],
] as const)("file %j is taken: %s, %s", ([name, taken]) => {
  expect(eligibleWith({}).file(raw(name))).toBe(taken);
});

test.for([
  [".part.pdf", true, "only an ending says that a file is a part"],
  [".in.scan.pdf.", false, "ProFTPD, with HiddenStores"],
  [".in.scan.pdf", true, "no dot at the end"],
  [".pureftpd-upload.5f3a1b2c.15.7a1.1b2c3d4e", false, "Pure-FTPd"],
  [".scan.pdf.~3f2a1b", false, "Nextcloud"],
  [".scan.pdf.~x", true, "no hexadecimal number"],
  [".scan.pdf.Ab12Cd", false, "rsync"],
  [".scan.Ab12Cd", true, "no inner dot: a hidden file with an ending of its own"],
  [".scan.tar.Ab12C", true, "five characters"],
  [".scan.tar.Ab12Cde", true, "seven"],
  [".scan.2026.ab-2cd", true, "not all of them letters or digits"],
  [".letter.txt.swp", false, "vim's swap file"],
  [".nfs000000000123abcd00000001", false, "deleted and still open, on NFS"],
  [".fuse_hidden0000012300000001", false, "deleted and still open, on FUSE"],
  [".DS_Store", false, "macOS"],
  ["._scan.pdf", false, "macOS on a share"],
  [".scanferry-scan.pdf-0123abcd", false, "our own, put aside"],
  [".scanferry~0123abcd0123abcd", false, "our own, a copy under way"],
  ["2026/.@__thumb/scan.pdf", false, "below a directory that is left out"],
  [".Trash-1000/files/a.pdf", false, "the same"],
  [".snapshot/hourly/a.pdf", false, "the same"],
  [".sync/Archive/a.pdf", false, "the same"],
  [".trashed-1767225600-scan.jpg", false, "a phone's trash"],
  [".pending-1767225600-scan.jpg", false, "a phone's unfinished file"],
  [".sync_0123456789ab.db-wal", false, "Nextcloud's database"],
  ["._sync_0123456789ab.db", false, "ownCloud's database"],
  [".Letter.docx.icloud", false, "a placeholder of iCloud Drive"],
  [".dropbox.cache/a.pdf", false, "Dropbox"],
] as const)("where include names the dot, %j is taken: %s, %s", ([name, taken]) => {
  const include = ["**/*", "**/.*", "**/.*/**"];
  expect(eligibleWith({ include }).file(raw(name))).toBe(taken);
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
  [["**/*.pdf"], [], "a/.b.pdf", false, "a star is no leading dot"],
  [["**"], [], ".a/b.pdf", false, "two stars are none either"],
  [["**/!(*.txt)"], [], "a/.b.pdf", false, "nor is what a negation leaves open"],
  [["**/{.,}*.pdf"], [], "a/.b.pdf", true, "a glob names it"],
  [["**/*", ".inbox/**"], [], ".inbox/a/b.pdf", true, "one of several does"],
  [["**/*", ".inbox/**"], [], ".inbox/.b.pdf", false, "for the directory alone"],
  [["**/.*"], ["**/*.pdf"], ".a.pdf", false, "exclude takes hidden names like others"],
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

test.for([
  [["**/*"], ".a", false, "nothing in it can match"],
  [["**/*", "**/.*.pdf"], ".a", false, "nor here: only files are named with their dot"],
  [["**/.*/**"], "x/.a", true, "the glob names hidden directories"],
  [["**/.*/**"], ".a/b/c", true, "and what is below them"],
  [[".inbox/*"], ".inbox", true, "this one"],
  [[".inbox/*"], ".other", false, "not that one"],
  [[".inbox/*"], "2026/.inbox", false, "nor elsewhere"],
  [[".inbox/*.pdf"], ".inbox/2026", false, "one star is one name"],
  [["{.a/b,c}/*"], ".x", true, "a group over several names may mean anything"],
  [["Größe/.a/*"], "GRO\u0308SSE/.a", false, "case folds letter by letter"],
  [["Größe/.a/*"], "GRO\u0308ßE/.a", true, "composed or not, it is the same name"],
] as const)("include %j: directory %j is entered: %s, %s", ([include, dir, entered]) => {
  expect(eligibleWith({ include }).directory(raw(dir))).toBe(entered);
});

/** Names, and globs over them, in which dots and groups meet in every way. */
const NAMES = fc.constantFrom("a", ".a", "b.pdf", ".b.pdf", "..c");
const SEGMENTS = ["**", "*", ".*", "a", ".a", "{.a,b}", "?(.)a", "*.pdf", ".*.pdf", "@(.a|.b.pdf)"];
const GLOB = fc.array(fc.constantFrom(...SEGMENTS), { minLength: 1, maxLength: 4 });

test("a file is taken as a shell would, and every directory on its way is entered", () => {
  const paths = fc.array(NAMES, { minLength: 1, maxLength: 4 });
  const includes = fc.array(GLOB, { minLength: 1, maxLength: 3 });
  const property = fc.property(paths, includes, (parts, globs) => {
    const include = globs.map((glob) => glob.join("/"));
    const { file, directory } = eligibleWith({ include });
    const path = raw(parts.join("/"));
    const taken = picomatch(include)(path);
    expect(file(path)).toBe(taken);
    const ways = parts.slice(1).map((_, at) => raw(parts.slice(0, at + 1).join("/")));
    if (taken) expect(ways.map(directory)).toEqual(ways.map(() => true));
  });
  fc.assert(property, { numRuns: 500 });
});

test("a name that is not UTF-8 is compared as Latin-1, the names around it as they are", () => {
  const path = `${raw("Ärzte")}/M\xe4rz.pdf` as RawPath;
  expect(eligibleWith({ include: ["ärzte/märz.*"] }).file(path)).toBe(true);
  expect(eligibleWith({ include: ["ärzte/mai.*"] }).file(path)).toBe(false);
});
