import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { receiptOf, receiptText } from "../../../src/receipts/receipt.ts";
import { ReceiptFolder, receiptName } from "../../../src/receipts/receipt-folder.ts";
import {
  RECEIPT_WORDS,
  receiptHtml,
  type ReceiptLanguage,
} from "../../../src/receipts/receipt-html.ts";
import { distanceAt } from "../../../src/std/time-zone.ts";
import { timeText } from "../../../src/std/wording.ts";
import { rawOfText, ROOT } from "../../../src/std/raw-path.ts";
import { aDocument } from "../../fixtures/a-document.ts";

const never = new AbortController().signal;

const AT = Date.UTC(2026, 10, 21, 2, 50, 11);

const archived = (set: Parameters<typeof aDocument>[0] = {}) =>
  aDocument({
    state: "converted",
    firstSeenAt: AT,
    documentId: 501,
    folderId: 7,
    targetPath: "/Scans/2026",
    digest: "ab12",
    sentName: "a.pdf",
    pages: 3,
    uploadedAt: AT + 1_000,
    convertedAt: AT + 2_000,
    ...set,
  });

const aReceipt = (...documents: ReturnType<typeof archived>[]) =>
  receiptOf({ batch: "b-1", mirror: "front/desk", documents });

function aFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), "scanferry-receipts-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return join(dir, "receipts");
}

describe("a receipt", () => {
  test("lists name, content, pages, id, folder and times of each document", () => {
    const { documents, ...head } = aReceipt(archived(), archived({ convertedAt: AT + 5_000 }));
    expect(head).toEqual({
      batch: "b-1",
      mirror: "front/desk",
      openedAt: AT,
      closedAt: AT + 5_000,
      converted: 2,
      pages: 6,
    });
    expect(documents[0]).toMatchObject({
      name: "a.pdf",
      sha256: "ab12",
      pages: 3,
      documentId: 501,
      folder: "/Scans/2026",
      folderId: 7,
      uploadedAt: AT + 1_000,
      convertedAt: AT + 2_000,
    });
  });

  test.for([
    ["uploaded", "the archive may still refuse to convert it"],
    ["held", "it waits for something"],
    ["failed", "a person has to decide"],
  ] as const)("is not closed with a document in %s: %s", ([state]) => {
    expect(aReceipt(archived(), archived({ state, convertedAt: null })).closedAt).toBeNull();
  });

  test("says that all is in the archive only when it is", () => {
    const headingOf = (...documents: ReturnType<typeof archived>[]) =>
      /<h1>(.*)<\/h1>/.exec(receiptHtml(aReceipt(...documents)))?.[1];
    expect(headingOf(archived())).toBe("Receipt: in the archive");
    const other = archived({ state: "uploaded", convertedAt: null });
    expect(headingOf(archived(), other)).toBe("Receipt: not all is in the archive yet");
  });

  test.for([
    ["=cmd|'/c calc'!A1.pdf", "./=cmd|'/c calc'!A1.pdf", "a formula"],
    ["@SUM(A1).pdf", "./@SUM(A1).pdf", "an older form of one"],
    ["+1.pdf", "./+1.pdf", "a sum"],
    ["-1+1.pdf", "./-1+1.pdf", "the same"],
    ["a\tb\nc.pdf", "a\\x09b\\x0ac.pdf", "a cell and a line of its own"],
    ["a=b.pdf", "a=b.pdf", "an ordinary name"],
  ] as const)("a spreadsheet takes the name %j for text: %s (%s)", ([name, cell]) => {
    const [line] = receiptText(aReceipt(archived({ name: rawOfText(name), dir: ROOT })))
      .split("\n")
      .filter((each) => each.includes("converted\t2"));
    expect(line?.split("\t").at(-1)).toBe(cell);
  });

  test("no cell begins as a formula does, whatever is not known", () => {
    const unknown = { state: "held", documentId: null, convertedAt: null, pages: null } as const;
    const text = receiptText(aReceipt(archived({ ...unknown, digest: null })));
    expect(text).toContain("none\theld\tnone\tnone\tnone");
    expect(text.split(/[\t\n]/).filter((cell) => /^[=+\-@]/.test(cell))).toEqual([]);
  });

  test("a printed one has local times with the zone, whole heads, and folders that break at slashes", () => {
    const page = receiptHtml(aReceipt(archived({ name: rawOfText("a.pdf") })));
    const time = page.match(/<time datetime="2026-11-21T02:50:1\d.000Z">(.*?) <span>(.*?)<\/span>/);
    expect(time?.slice(1)).toEqual([timeText(AT), distanceAt(AT)]);
    expect(page).toContain("/<wbr>Scans/<wbr>2026");
    expect(page).not.toMatch(/size: A4/);
  });

  test.for(Object.keys(RECEIPT_WORDS) as ReceiptLanguage[])("is there in %s", (language) => {
    const words = RECEIPT_WORDS[language];
    const page = receiptHtml(aReceipt(archived()), language);
    expect(page).toContain(`<html lang="${language}">`);
    expect(page).toContain(`<h1>${words.done}</h1>`);
  });

  test("a name cannot write into the page that is printed", () => {
    const page = receiptHtml(aReceipt(archived({ name: rawOfText("<img src=x>&\"'\u202e.pdf") })));
    expect(page).not.toContain("<img");
    expect(page).toContain("<bdi>");
    expect(page).toContain("&lt;img src=x&gt;&amp;&quot;&#39;");
    expect(page).not.toMatch(/<script|<[^>]* (?:src|href)=/);
  });
});

describe("a folder of receipts", () => {
  test("gets each form, readable by no stranger, and the same again when it is written again", async () => {
    const dir = aFolder();
    const folder = new ReceiptFolder({ dir, formats: ["json", "html"] });
    const receipt = aReceipt(archived());
    const files = await folder.write(receipt, never);
    const texts = files.map((file) => readFileSync(file, "utf8"));
    expect(JSON.parse(texts[0] ?? "")).toEqual(receipt);
    expect(texts[1]).toBe(receiptHtml(receipt));
    expect(statSync(files[0] ?? "").mode & 0o007).toBe(0);
    rmSync(files[0] ?? "");
    // What a kill in the middle of a write leaves.
    writeFileSync(`${files[0]}.partial`, "{");
    await folder.write(receipt, never);
    expect(files.map((file) => readFileSync(file, "utf8"))).toEqual(texts);
    expect(readdirSync(dir).sort()).toEqual([
      `${receiptName(receipt)}.html`,
      `${receiptName(receipt)}.json`,
    ]);
  });

  test("is written to by one at a time; who does not want to wait any more does not write later", async () => {
    const dir = aFolder();
    mkdirSync(dir);
    const folders = [1, 2, 3].map(() => new ReceiptFolder({ dir, formats: ["json"] }));
    const receipt = aReceipt(archived());
    const left = new AbortController();
    const all = folders.map((folder, n) => folder.write(receipt, n === 1 ? left.signal : never));
    left.abort(new Error("starting over"));
    const ends = await Promise.allSettled(all);
    expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(ends[1]).toMatchObject({ reason: left.signal.reason });
    expect(readdirSync(dir)).toEqual([`${receiptName(receipt)}.json`]);
  });

  test("a name says when and what, and leads nowhere else", () => {
    expect(receiptName(aReceipt(archived()))).toBe("20261121T025011Z-front-desk-b-1");
    const sly = receiptOf({ batch: "../x", mirror: "../../etc", documents: [archived()] });
    expect(receiptName(sly)).not.toContain("/");
  });

  test("one that cannot be written to is a fault that names it", async () => {
    const dir = aFolder();
    writeFileSync(dir, "a file in its place");
    const folder = new ReceiptFolder({ dir, formats: ["json"] });
    const writing = folder.write(aReceipt(archived()), never);
    await expect(writing).rejects.toMatchObject({
      code: "RECEIPT_UNWRITABLE",
      message: expect.stringContaining(dir),
    });
  });
});
