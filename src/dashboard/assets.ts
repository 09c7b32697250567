import { readFile } from "node:fs/promises";

/** A file of the page, read once: no request ever reaches the file system. */
export type Asset = { readonly path: string; readonly type: string; readonly body: Buffer };

export const HTML_TYPE = "text/html; charset=utf-8";

const TYPES = {
  html: HTML_TYPE,
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
} as const;

/** Every file that is served, by name: what is not listed does not exist. */
export const ASSET_FILES = [
  "index.html",
  "sign-in.html",
  "sign-in.js",
  "dashboard.css",
  "tables.css",
  "dashboard.js",
  "languages.js",
  "strings.js",
  "en.js",
  "en-terms.js",
  "de.js",
  "de-findings.js",
  "de-terms.js",
  "format.js",
  "headline.js",
  "dom.js",
  "cards.js",
  "overview.js",
  "budget.js",
  "activity.js",
  "plot.js",
  "documents.js",
  "now.js",
  "filters.js",
  "inspection.js",
  "findings.js",
  "ask-first.js",
  "choice.js",
  "story.js",
  "connection.js",
  "favicon.svg",
] as const;

/** Those of the page on which to sign in: they come without a token. */
const SIGN_IN_FILES = ASSET_FILES.filter((file) =>
  /^(?:sign-in\..*|languages\.js|strings\.js|(?:en|de)(?:-\w+)?\.js|format\.js|dashboard\.css|favicon\.svg)$/.test(
    file,
  ),
);
export const SIGN_IN_PATHS: readonly string[] = SIGN_IN_FILES.map(pathOfAsset);

/** The same place from `src/` and from `dist/`. */
const FOLDER = new URL("../../assets/dashboard/", import.meta.url);

/** Reads the page's files. */
export async function readAssets(): Promise<Asset[]> {
  return Promise.all(
    ASSET_FILES.map(async (file) => ({
      path: pathOfAsset(file),
      type: TYPES[file.slice(file.lastIndexOf(".") + 1) as keyof typeof TYPES],
      body: await readFile(new URL(file, FOLDER)),
    })),
  );
}

/** `index.html` is the one at `/`; the other pages go without their ending. */
function pathOfAsset(file: string): string {
  return file === "index.html" ? "/" : `/${file.replace(/\.html$/, "")}`;
}
