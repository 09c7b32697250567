import { stat } from "node:fs/promises";
import { join } from "node:path";
import { openStorage } from "../../src/embedded-archive/store.ts";
import { EmbeddedArchive } from "../../src/embedded-archive/embedded-archive.ts";
import { type Operation, PATHS } from "../../src/wire/shapes.ts";
import { signedForm } from "../../test/fixtures/sign.ts";

export type Listing = { question: string; ms: number };

/** Documents of one transaction while filling. */
const CHUNK = 20_000;
const FOLDERS = 1_000;
const WORDS =
  "arve leping akt teade pakkumine tellimus saateleht kviitung aruanne protokoll avaldus otsus volikiri garantii hooldus rent palk reis koolitus litsents".split(
    " ",
  );

/** A document's name: words, a number, a year; the same for the same `n`. */
function nameOf(n: number): string {
  const word = (step: number) => WORDS[Math.floor(n / step) % WORDS.length] ?? "";
  return `${word(1)} ${word(20)} ${2010 + (n % 16)}-${String(n).padStart(7, "0")}.pdf`;
}

/** Fills a store directly: rows and their indexes as uploads and conversions leave them, no bytes. */
export async function fill(dataDir: string, count: number): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const { store } = await openStorage(dataDir, opened);
  const account = store.account({ key: "demo", secret: "demo" }, 0);
  const folders = Array.from({ length: FOLDERS }, (_, n) =>
    store.makeFolder(account.id, `/F${n % 25}/${n}`, n),
  );
  // Half of everything lies in one folder: someone always does that.
  const folderOf = (n: number) => (n % 2 === 0 ? account.rootId : (folders[n % FOLDERS] ?? 0));
  for (let from = 0; from < count; from += CHUNK)
    store.inOneTransaction(() => {
      for (let n = from; n < Math.min(count, from + CHUNK); n++) {
        const row = store.documents.add({
          account_id: account.id,
          folder_id: folderOf(n),
          filename: nameOf(n),
          uploaded_at: 1_600_000_000_000 + n * 1000,
          size: 20_000 + (n % 5000),
          sha256: n.toString(16).padStart(64, "0"),
          pages_charged: 1,
          batch: null,
          expire_at: n % 10 === 0 ? 4_000_000_000_000 + n : null,
          convert_at: null,
          title: null,
          author: null,
          subject: null,
          keywords: null,
          producer: null,
          description: null,
        });
        const text = `${WORDS[n % 7]} ${WORDS[(n + 3) % 19]} number ${n} of the archive`;
        const found = { pages: 1 + (n % 9), digidoc: false, text, contents: [] };
        store.documents.convert(row, found, row.uploaded_at + 500);
      }
    });
}

const QUESTIONS: [string, Operation, (rootId: number) => Record<string, string>][] = [
  ["list: 500,000 in a folder, the latest 100", "documents", () => ({ sortDesc: "true" })],
  ["list: the same by name", "documents", () => ({ sortBy: "NAME" })],
  [
    "list: the same by name, page 2,500",
    "documents",
    () => ({ sortBy: "NAME", paginationIndex: "2500" }),
  ],
  ["list: the same by pages", "documents", () => ({ sortBy: "PAGES" })],
  ["list: 10,000 at once", "documents", () => ({ paginationSize: "10000" })],
  ["list: 500 in a folder", "documents", (rootId) => ({ folderId: String(rootId + 40) })],
  ["folders: 25 below the root", "folders", () => ({})],
  ["info of one document", "document", () => ({ id: "654321" })],
  ["search: a number in a name, 1 found", "search", () => ({ query: "0654321" })],
  ["search: words of the content, 1 found", "search", () => ({ query: "number 654321" })],
  [
    "search: a word of names, 97,500 found",
    "search",
    () => ({ docFilename: "kviitung", queryContent: "false" }),
  ],
  ["search: a word of names and contents", "search", () => ({ query: "kviitung" })],
  ["search: two letters", "search", () => ({ docFilename: "77" })],
  [
    "search: a range of dates, 3,600 found",
    "search",
    () => ({ createdDateStart: "1600500000000", createdDateEnd: "1600503599999" }),
  ],
  [
    "search: pages 9, sorted by date",
    "search",
    () => ({ pagesStart: "9", sortBy: "UPLOADED_DATE" }),
  ],
  [
    "search: with an expiry date, by that date",
    "search",
    () => ({ docHasExpireDate: "true", sortBy: "EXPIRE_DATE" }),
  ],
  ["search: nothing asked, everything found", "search", () => ({})],
];

/** Fills an archive with `count` documents and asks it over HTTP, each question `rounds` times. */
export async function measureListing(
  dataDir: string,
  count: number,
  rounds: number,
  median: (values: number[]) => number,
): Promise<{ filledMs: number; bytes: number; rows: Listing[] }> {
  const start = performance.now();
  await fill(dataDir, count);
  const filledMs = performance.now() - start;
  const { size: bytes } = await stat(join(dataDir, "archive.db"));
  await using archive = await EmbeddedArchive.open({
    dataDir,
    listen: { host: "127.0.0.1", port: 0 },
  });
  const ask = async (operation: Operation, fields: Record<string, string>) => {
    const body = signedForm(fields);
    const begun = performance.now();
    const response = await fetch(archive.url + PATHS[operation], { method: "POST", body });
    const text = await response.text();
    if (!text.includes('"OK"')) throw new Error(text);
    return performance.now() - begun;
  };
  const root = archive.createFolder("/");
  const rows: Listing[] = [];
  for (const [question, operation, fieldsOf] of QUESTIONS) {
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) times.push(await ask(operation, fieldsOf(root)));
    rows.push({ question, ms: median(times) });
  }
  return { filledMs, bytes, rows };
}
