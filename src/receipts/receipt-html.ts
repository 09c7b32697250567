import { distanceAt, zoneName } from "../std/time-zone.ts";
import { timeText } from "../std/wording.ts";
import type { Receipt, ReceiptLine } from "./receipt.ts";
import type { State } from "../domain/document.ts";

/**
 * A receipt to print: one HTML file that needs nothing else, without script, in black on white. Times are those of
 * this host, each with its distance from UTC, since paper has no time zone.
 */

/** All of its style; where it is served, this text alone is allowed. */
export const RECEIPT_STYLE = `
  @page { size: landscape; margin: 12mm; }
  body { font: 10pt/1.35 system-ui, sans-serif; color: #000; background: #fff; margin: 2em auto; max-width: 75em; padding: 0 1em; }
  h1 { font-size: 16pt; margin: 0 0 .3em; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .1em 1.5em; margin: 0 0 1.5em; }
  dt { color: #444; } dd { margin: 0; overflow-wrap: anywhere; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; vertical-align: top; padding: .35em .9em .35em 0; border-bottom: 1px solid #999; }
  th { border-bottom: 2px solid #000; white-space: nowrap; } thead { display: table-header-group; } tr { break-inside: avoid; }
  .path, .folder { overflow-wrap: anywhere; } .path { min-width: 18em; } td:last-child { width: 1%; } .folder { min-width: 9em; }
  .number { text-align: right; font-variant-numeric: tabular-nums; }
  time { white-space: nowrap; } td time span { display: block; }
  code { font: 8pt/1.3 ui-monospace, monospace; }
  small { color: #444; }
  .open { border: 2px solid #000; padding: .5em 1em; font-weight: bold; }
  @media screen and (max-width: 70em) {
    thead { display: none; } table, tbody, tr, td { display: block; } tr { border-bottom: 1px solid #999; padding: .5em 0; }
    td { border: 0; padding: .1em 0 .1em 9em; overflow-wrap: anywhere; } .path { min-width: 0; } .number { text-align: left; } td:last-child { width: auto; }
    td::before { content: attr(data-head); float: left; margin-left: -9em; max-width: 8.5em; color: #444; } td time span { display: inline; }
  }
  @media print { body { margin: 0; max-width: none; padding: 0; font-size: 9pt; } code { font-size: 7pt; } }
`;

/** The whole page. */
export function receiptHtml(receipt: Receipt, language: ReceiptLanguage = "en"): string {
  const { batch, mirror, openedAt, closedAt, converted, pages, documents } = receipt;
  const words = RECEIPT_WORDS[language];
  const facts: [string, string][] = [
    [words.batch, `<code>${escaped(batch)}</code>`],
    [words.mirror, escaped(mirror)],
    [words.documents, words.converted(converted, documents.length)],
    [words.pages, String(pages)],
    [words.firstSeen, timeOf(openedAt)],
    [words.closed, timeOf(closedAt)],
    [words.times, escaped(words.zone(zoneName()))],
  ];
  const open =
    closedAt === null
      ? `<p class="open">${words.openNote(documents.length - converted)}</p>\n`
      : "";
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(words.title(batch))}</title>
<style>${RECEIPT_STYLE}</style>
</head>
<body>
<main>
<h1>${closedAt === null ? words.open : words.done}</h1>
${open}<dl>
${facts.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join("\n")}
</dl>
<table>
<thead><tr>${headsOf(words).join("")}</tr></thead>
<tbody>
${documents.map((line) => rowOf(line, words)).join("\n")}
</tbody>
</table>
</main>
</body>
</html>
`;
}

function headsOf(words: ReceiptWords): string[] {
  const { file, document, folder, pages, sent, convertedAt } = words;
  const head = (name: string) => `<th scope="col">${name}</th>`;
  const number = (name: string) => `<th scope="col" class="number">${name}</th>`;
  const heads = [head(file), number(document), head(folder), number(pages), head(sent)];
  return [...heads, head(convertedAt), head("SHA-256")];
}

function rowOf(line: ReceiptLine, words: ReceiptWords): string {
  const { path, name, documentId, folder, folderId, pages, uploadedAt, sha256, size } = line;
  const own = path.split("/").at(-1);
  const small = (text: string) => `<br><small>${text}</small>`;
  const sentAs = name === null || name === own ? "" : small(`${words.sentAs} ${bdi(name)}`);
  const id = folderId === null ? "" : small(`${words.id} ${folderId}`);
  const note = line.duplicate ? small(words.duplicate) : "";
  const unfinished = line.unfinished ? small(words.unfinished) : "";
  const state = escaped(words.states[line.state] ?? line.state);
  const cell = (head: string, content: string | number, to = "") =>
    `<td class="${to}" data-head="${head}">${content}</td>`;
  const cells = [
    cell(words.file, `${bdi(path)}${sentAs}${unfinished}${small(words.bytes(size))}`, "path"),
    cell(words.document, documentId ?? "–", "number"),
    cell(words.folder, `${folder === null ? "–" : bdi(folder)}${id}`, "folder"),
    cell(words.pages, pages ?? "–", "number"),
    cell(words.sent, `${timeOf(uploadedAt)}${note}`),
    cell(words.convertedAt, line.state === "converted" ? timeOf(line.convertedAt) : state),
    cell("SHA-256", `<code>${sha256 === null ? "–" : inGroups(sha256)}</code>`),
  ];
  return `<tr>${cells.join("")}</tr>`;
}

/** `2026-11-21 03:50:11`, and `UTC+01:00` below it. */
function timeOf(at: number | null): string {
  if (at === null) return "–";
  return `<time datetime="${new Date(at).toISOString()}">${timeText(at)} <span>${distanceAt(at)}</span></time>`;
}

/** Two lines of a digest, which is read to compare it. */
function inGroups(digest: string): string {
  return escaped(digest).replaceAll(/.{32}(?=.)/g, "$&<wbr>");
}

/** A name may turn the reading direction: not that of what stands next to it. Broken at slashes first. */
function bdi(text: string): string {
  return `<bdi>${escaped(text).replaceAll("/", "/<wbr>")}</bdi>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

const ENGLISH = {
  title: (batch: string) => `Receipt of batch ${batch}`,
  done: "Receipt: in the archive",
  open: "Receipt: not all is in the archive yet",
  openNote: (documents: number) => `Not closed yet: ${documents} not CONVERTED.`,
  batch: "Batch",
  mirror: "Mirror",
  documents: "Documents",
  converted: (converted: number, all: number) => `${converted} of ${all} CONVERTED`,
  pages: "Pages",
  firstSeen: "First file seen",
  closed: "Closed",
  times: "Times",
  zone: (name: string) => `local time, ${name}`,
  file: "File",
  document: "Document",
  folder: "Folder",
  sent: "Sent",
  convertedAt: "CONVERTED",
  sentAs: "as",
  id: "id",
  duplicate: "was there already",
  unfinished: "unfinished by its format",
  bytes: (bytes: number) => `${bytes} bytes`,
  states: {} as Partial<Record<State, string>>,
};

type ReceiptWords = typeof ENGLISH;

const GERMAN: ReceiptWords = {
  title: (batch) => `Beleg des Stapels ${batch}`,
  done: "Beleg: im Archiv",
  open: "Beleg: noch nicht alles im Archiv",
  openNote: (documents) => `Noch nicht abgeschlossen: ${documents} nicht CONVERTED.`,
  batch: "Stapel",
  mirror: "Mirror",
  documents: "Dokumente",
  converted: (converted, all) => `${converted} von ${all} CONVERTED`,
  pages: "Seiten",
  firstSeen: "Erste Datei gesehen",
  closed: "Abgeschlossen",
  times: "Zeiten",
  zone: (name) => `Ortszeit, ${name}`,
  file: "Datei",
  document: "Dokument",
  folder: "Ordner",
  sent: "Gesendet",
  convertedAt: "CONVERTED",
  sentAs: "als",
  id: "ID",
  duplicate: "war schon vorhanden",
  unfinished: "nach ihrem Format unfertig",
  bytes: (bytes) => `${bytes} Bytes`,
  states: {
    settling: "in Prüfung",
    pending: "bereit",
    uploading: "wird gesendet",
    inDoubt: "ungeklärt",
    uploaded: "gesendet",
    held: "zurückgehalten",
    failed: "fehlgeschlagen",
  },
};

export const RECEIPT_WORDS = { en: ENGLISH, de: GERMAN } as const;

/** A language that a receipt can be had in. */
export type ReceiptLanguage = keyof typeof RECEIPT_WORDS;
