/**
 * A receipt to print: one HTML file that needs nothing else, without script, in black on white. Times
 * are UTC, since paper has no time zone.
 */
import type { Receipt, ReceiptLine } from "./receipt.ts";

const STYLE = `
  @page { size: A4 landscape; margin: 12mm; }
  body { font: 10pt/1.35 system-ui, sans-serif; color: #000; background: #fff; margin: 2em auto; max-width: 75em; padding: 0 1em; }
  h1 { font-size: 16pt; margin: 0 0 .3em; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .1em 1.5em; margin: 0 0 1.5em; }
  dt { color: #444; } dd { margin: 0; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; vertical-align: top; padding: .35em .6em .35em 0; border-bottom: 1px solid #999; overflow-wrap: anywhere; }
  th { border-bottom: 2px solid #000; } thead { display: table-header-group; } tr { break-inside: avoid; }
  .number { text-align: right; font-variant-numeric: tabular-nums; }
  code { font: 8pt/1.3 ui-monospace, monospace; overflow-wrap: anywhere; }
  small { color: #444; }
  .open { border: 2px solid #000; padding: .5em 1em; font-weight: bold; }
`;

const COLUMNS: readonly (readonly [heading: string, className: string])[] = [
  ["File", ""],
  ["Document", "number"],
  ["Folder", ""],
  ["Pages", "number"],
  ["Sent", ""],
  ["CONVERTED", ""],
  ["SHA-256", ""],
];

/** The whole page. */
export function receiptHtml(receipt: Receipt): string {
  const { batch, mirror, openedAt, closedAt, converted, pages, documents } = receipt;
  const facts: [string, string][] = [
    ["Batch", `<code>${escaped(batch)}</code>`],
    ["Mirror", escaped(mirror)],
    ["Documents", `${converted} of ${documents.length} CONVERTED`],
    ["Pages", String(pages)],
    ["First file seen", timeOf(openedAt)],
    ["Closed", timeOf(closedAt)],
  ];
  const open =
    closedAt === null
      ? `<p class="open">Not closed yet: ${documents.length - converted} not CONVERTED.</p>\n`
      : "";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Receipt of batch ${escaped(batch)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Receipt: ${closedAt === null ? "not all is in the archive yet" : "in the archive"}</h1>
${open}<dl>
${facts.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join("\n")}
</dl>
<table>
<thead><tr>${COLUMNS.map(headingOf).join("")}</tr></thead>
<tbody>
${documents.map(rowOf).join("\n")}
</tbody>
</table>
</body>
</html>
`;
}

function headingOf([heading, className]: (typeof COLUMNS)[number]): string {
  return `<th scope="col"${className === "" ? "" : ` class="${className}"`}>${heading}</th>`;
}

function rowOf(line: ReceiptLine): string {
  const { path, name, documentId, folder, folderId, pages, uploadedAt, sha256, size } = line;
  const own = path.split("/").at(-1);
  const sentAs = name === null || name === own ? "" : `<br><small>as ${bdi(name)}</small>`;
  const id = folderId === null ? "" : `<br><small>id ${folderId}</small>`;
  const note = line.duplicate ? "<br><small>was there already</small>" : "";
  const unfinished = line.unfinished ? "<br><small>unfinished by its format</small>" : "";
  const cells = [
    `<td>${bdi(path)}${sentAs}${unfinished}<br><small>${size} bytes</small></td>`,
    `<td class="number">${documentId ?? "–"}</td>`,
    `<td>${folder === null ? "–" : bdi(folder)}${id}</td>`,
    `<td class="number">${pages ?? "–"}</td>`,
    `<td>${timeOf(uploadedAt)}${note}</td>`,
    `<td>${line.state === "converted" ? timeOf(line.convertedAt) : escaped(line.state)}</td>`,
    `<td><code>${sha256 ?? "–"}</code></td>`,
  ];
  return `<tr>${cells.join("")}</tr>`;
}

function timeOf(at: number | null): string {
  if (at === null) return "–";
  const iso = new Date(at).toISOString();
  return `<time datetime="${iso}">${iso.slice(0, 19).replace("T", " ")} UTC</time>`;
}

/** A name may turn the reading direction: not that of what stands next to it. */
function bdi(text: string): string {
  return `<bdi>${escaped(text)}</bdi>`;
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
