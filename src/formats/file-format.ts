/**
 * What a document is: by its first bytes, and by its name only where those say no more. A ZIP is
 * an office file, a digidoc container or just a ZIP; an OLE file is a letter or a mail.
 */
export const FILE_FORMATS = [
  ...(["pdf", "tiff", "jpeg", "png", "gif", "webp", "bmp", "heic", "text", "office"] as const),
  ...(["digidoc", "ddoc", "zip", "xml", "mail", "unknown"] as const),
] as const;

/** One of them. */
export type FileFormat = (typeof FILE_FORMATS)[number];

const DIGIDOC_NAMES = new Set("asice sce asics scs bdoc edoc adoc".split(" "));
const OFFICE_ZIP_NAMES = new Set("docx docm xlsx xlsm pptx pptm odt ods odp odg".split(" "));
/** An Office file with a password is an OLE file under its usual name. */
const OFFICE_OLE_NAMES = new Set(["doc", "dot", "xls", "ppt", ...OFFICE_ZIP_NAMES]);
/** A saved page of the web is a mail with its pictures. */
const MAIL_NAMES = new Set("eml mht mhtml".split(" "));
const TEXT_NAMES = new Set("txt text csv md log html htm json".split(" "));

/** Names that promise a format whose first bytes are known. */
const PROMISES = new Set([
  ..."pdf tif tiff jpg jpeg jpe png gif webp bmp heic heif ddoc zip".split(" "),
  ...DIGIDOC_NAMES,
  ...OFFICE_ZIP_NAMES,
]);
/** Of these some are names of texts, too: AsciiDoc, Scilab's programs, circuits. */
const ALSO_TEXT = new Set(["adoc", "sce", "scs"]);
/** Names of texts only: there are no zeros in one. */
const TEXT_ONLY = new Set([...TEXT_NAMES, ..."xml eml rtf svg".split(" ")]);
/** Names of what begins with text or with a header, never with a block of zeros, whatever stands behind. */
const BEGINS_WRITTEN = new Set([
  ...PROMISES,
  ...TEXT_ONLY,
  ...OFFICE_OLE_NAMES,
  ..."msg ps eps xps oxps p7m p7s dwg".split(" "),
]);
/** What a file is as long as none of those first bytes are there. */
const SHAPELESS: ReadonlySet<FileFormat> = new Set<FileFormat>(["unknown", "text", "xml", "mail"]);

/** Readers accept a PDF whose header comes after some garbage, up to this many bytes. */
export const PDF_HEADER_WITHIN = 1024;

/**
 * The kind of the document with these first bytes and this name.
 *
 * @param head the first 4 KiB or more, or the whole of a smaller file
 * @param filename with its extension; directories in front do no harm
 */
export function kindOf(head: Buffer, filename: string): FileFormat {
  const extension = extensionOf(filename);
  return (
    kindOfMagic(head) ??
    (isPdf(head, extension) ? "pdf" : undefined) ??
    (isZip(head) ? kindOfZip(head, extension) : undefined) ??
    (isOle(head) ? kindOfOle(extension) : undefined) ??
    kindOfText(head, extension) ??
    "unknown"
  );
}

/**
 * Whether the name promises a format that the content is not: space set aside before the data come
 * reads as zeros. A wrong but known format under the name (a PNG called .jpg) breaks no promise.
 */
export function breaksPromise(kind: FileFormat, filename: string): boolean {
  const extension = extensionOf(filename);
  if (!SHAPELESS.has(kind) || !PROMISES.has(extension)) return false;
  return kind === "unknown" || !ALSO_TEXT.has(extension);
}

/** Whether the name is that of a text: zeros in it are space set aside, whatever else is there. */
export function isNamedText(filename: string): boolean {
  return TEXT_ONLY.has(extensionOf(filename));
}

/** Whether the name promises a format that never begins with a block of zeros. */
export function promisesBeginning(filename: string): boolean {
  return BEGINS_WRITTEN.has(extensionOf(filename));
}

/** The name's extension in lower case without its dot; empty when it has none. */
function extensionOf(filename: string): string {
  return /[^/\\.][^/\\]*\.([^./\\]+)$/.exec(filename)?.[1]?.toLowerCase() ?? "";
}

function kindOfMagic(head: Buffer): FileFormat | undefined {
  const latin = head.toString("latin1", 0, 16);
  if (latin.startsWith("II*\0") || latin.startsWith("MM\0*")) return "tiff";
  if (latin.startsWith("II+\0") || latin.startsWith("MM\0+")) return "tiff";
  if (latin.startsWith("\xff\xd8\xff")) return "jpeg";
  if (latin.startsWith("\x89PNG\r\n\x1a\n")) return "png";
  // Text, but for the NUL that some programs end it with.
  if (latin.startsWith(RTF)) return "office";
  if (latin.startsWith("GIF87a") || latin.startsWith("GIF89a")) return "gif";
  if (latin.startsWith("RIFF") && latin.startsWith("WEBP", 8)) return "webp";
  if (latin.startsWith("BM") && isBitmap(head)) return "bmp";
  if (latin.startsWith("BA") && OS2_TYPES.has(latin.slice(14, 16))) return "bmp";
  if (latin.startsWith("ftyp", 4) && HEIF_BRANDS.has(latin.slice(8, 12))) return "heic";
  return undefined;
}

/** How RTF begins. Its pictures are text, too, so that its length says nothing about its pages. */
const RTF = "{\\rtf";

/** Major brands of HEIF still images and sequences, AVIF among them. */
const HEIF_BRANDS = new Set("heic heix heim heis hevc hevx mif1 mif2 msf1 avif avis".split(" "));

/** What an array of OS/2 holds: bitmaps, icons and pointers, with their colours or without. */
const OS2_TYPES = new Set("BM CI CP IC PT".split(" "));

/**
 * "BM" begins many a text; the size of the header behind it begins none. OS/2 2 has 64 bytes, of which a
 * writer may leave out any but the first 16.
 */
function isBitmap(head: Buffer): boolean {
  const bytes = head.length >= 18 ? head.readUInt32LE(14) : 0;
  return bytes === 12 || (bytes >= 16 && bytes <= 64) || bytes === 108 || bytes === 124;
}

/** Only under its own name may a PDF begin late: a text about PDF is none. */
function isPdf(head: Buffer, extension: string): boolean {
  const at = head.indexOf("%PDF-", 0, "latin1");
  return at === 0 || (extension === "pdf" && at > 0 && at <= PDF_HEADER_WITHIN);
}

/** The container of the newer office formats and of the digidoc ones. */
export function isZip(head: Buffer): boolean {
  const magic = head.toString("latin1", 0, 4);
  return magic === "PK\x03\x04" || magic === "PK\x05\x06";
}

/** The container of the old Office formats and of Outlook mails. */
export function isOle(head: Buffer): boolean {
  return head.toString("latin1", 0, 8) === "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
}

/** ASiC and OpenDocument put a stored entry `mimetype` first, so that their kind can be read there. */
function kindOfZip(head: Buffer, extension: string): FileFormat {
  const first = head.toString("latin1", 30, 512);
  if (first.startsWith("mimetypeapplication/vnd.etsi.asic")) return "digidoc";
  if (first.startsWith("mimetypeapplication/vnd.oasis.opendocument")) return "office";
  if (DIGIDOC_NAMES.has(extension)) return "digidoc";
  if (OFFICE_ZIP_NAMES.has(extension) || first.startsWith("[Content_Types].xml")) return "office";
  return "zip";
}

function kindOfOle(extension: string): FileFormat {
  if (extension === "msg") return "mail";
  return OFFICE_OLE_NAMES.has(extension) ? "office" : "unknown";
}

function kindOfText(head: Buffer, extension: string): FileFormat | undefined {
  if (head.length === 0) return undefined;
  const text = head.toString("latin1");
  const isXml = /^(?:\xef\xbb\xbf)?\s*<\?xml\s/.test(text);
  if (!isXml && !isText(head)) return undefined;
  if (/<(?:[\w.-]+:)?SignedDoc[\s>]/.test(text) || (extension === "ddoc" && isXml)) return "ddoc";
  if (MAIL_NAMES.has(extension)) return "mail";
  if (isXml || extension === "xml" || extension === "svg") return "xml";
  if (extension === "rtf" && RTF.startsWith(text)) return "office";
  return TEXT_NAMES.has(extension) || isUtf8(head) || hasWideMark(head) ? "text" : undefined;
}

/** Asked of thousands of bytes of each text: a pattern takes a twentieth of what a function a byte would. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const UNTYPED = /[\0-\x07\x0e-\x1a\x1c-\x1f]/;

/** No NUL but in UTF-16, and none of the control characters that text does without. */
function isText(head: Buffer): boolean {
  if (hasWideMark(head)) return true;
  return !UNTYPED.test(head.toString("latin1"));
}

function hasWideMark(head: Buffer): boolean {
  const mark = head.toString("latin1", 0, 2);
  return mark === "\xff\xfe" || mark === "\xfe\xff";
}

/** The cut at the end of the head may split a character, so its last three bytes do not count. */
function isUtf8(head: Buffer): boolean {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    decoder.decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}
