import { createHash } from "node:crypto";
import { STEERING } from "../std/legible.ts";

/** Folders deeper than this are shown no deeper. */
export const DEPTH_MAX = 20;
const INDENTS = Array.from(
  { length: DEPTH_MAX },
  (_, depth) => `.d${depth + 1} { margin-left: ${(depth + 1) * 1.2}rem }`,
).join("\n");

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; color: #222 }
h2 { font-size: 1.1rem; border-bottom: 1px solid #ccc; margin-top: 2rem }
h3 { font-size: 1rem; margin: 1.2rem 0 .2rem }
a { color: #0b57a4 }
ul.tree { list-style: none; padding: 0; margin: 0 }
${INDENTS}
table { border-collapse: collapse; width: 100% }
td, th { text-align: left; padding: .15rem .8rem .15rem 0; vertical-align: top; overflow-wrap: anywhere }
td.number, th.number { text-align: right; white-space: nowrap }
.none { color: #777 }
`;

const STYLE_DIGEST = createHash("sha256").update(STYLE).digest("base64");

/**
 * Nothing but the page's own style may load, and nothing may run. Its links are followed as its own: from
 * an origin of nowhere they would be another page's.
 */
export const PAGE_POLICY =
  `default-src 'none'; style-src 'sha256-${STYLE_DIGEST}'; ` +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox allow-downloads allow-same-origin";

/** A whole page. `title` is text, `content` is HTML. */
export function layout(title: string, content: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title>
<meta name="viewport" content="width=device-width"><style>${STYLE}</style></head>
<body>${content}</body></html>`;
}

/** Text as HTML. Marks that turn the direction of text around show themselves. */
export function escaped(text: string): string {
  return text
    .replace(STEERING, "\uFFFD")
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** `2026-11-20 08:15:00`, UTC. */
export function momentOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace("T", " ");
}
