/** What a hostile archive, and anyone who names files, can make any command print: nothing that steers a terminal. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { STEERING } from "../../src/std/printable.ts";
import { PATHS } from "../../src/wire/shapes.ts";
import { linesOf, scanferry } from "../unit/cli/in-process.ts";

/** A title, a cleared screen, a line of its own, a C1 introducer, turned text, and separators of lines. */
const HOSTILE =
  "a\u001b]0;t\u0007\u001b[2J\r\nFAKE\u001b[8m\u009b31m\u202eb\u200f\u061c\u2028FAKE\u2029c\u007f";

const PAINT = new RegExp(`${String.fromCharCode(27)}\\[(?:1|2|22|31|32|33|36|39)m`, "g");

/** Every field that the interface knows, each as hostile as its type allows. */
const document = {
  id: 5,
  folderId: 17,
  digidocId: 5,
  digidoc: true,
  documentName: HOSTILE,
  filename: HOSTILE,
  createdDate: 8.64e15,
  uploadedDate: 1,
  pages: 9007199254740991,
  filesize: 9007199254740991,
  status: HOSTILE,
  title: HOSTILE,
  author: HOSTILE,
  producer: HOSTILE,
  description: HOSTILE,
  modifiedDate: -8.64e15,
  viewedTally: 1,
  downloadedTally: 1,
};
const folder = {
  id: 17,
  parentId: 1,
  name: HOSTILE,
  createdDate: 1,
  root: false,
  index: HOSTILE,
  month: 99,
  year: -1,
  description: HOSTILE,
  keywords: HOSTILE,
  expireDate: 8.64e15,
};
const page = { paginationSize: 100, paginationPages: 1 };

const REPLIES: Readonly<Record<string, object>> = {
  [PATHS.search]: { ...page, documents: [document], folders: [folder] },
  [PATHS.documents]: { ...page, documents: [document] },
  [PATHS.digidoc]: { ...page, documents: [document] },
  [PATHS.document]: { document },
  [PATHS.folders]: { ...page, folders: [folder] },
  [PATHS.folder]: { folder },
  [PATHS.upload]: { document: { ...document, pages: 0, filesize: 0 } },
};

type Temper = "lies" | "refuses" | "rambles";

/** Serves the hostile replies; `lies` says OK, `refuses` says why not, `rambles` is no archive at all. */
async function aHostileArchive(temper: Temper): Promise<string> {
  const server = createServer((request, reply) => {
    request.resume().on("end", () => {
      const path = new URL(request.url ?? "", "http://x").pathname;
      const said =
        temper === "lies"
          ? { response: "OK", ...REPLIES[path] }
          : { response: "ERROR", responseDescription: { code: HOSTILE, message: HOSTILE } };
      if (temper === "rambles") reply.writeHead(500, { "Content-Type": "text/html" }).end(HOSTILE);
      else reply.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(said));
    });
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** With each that has it, `--json` too. */
const COMMANDS: readonly (readonly [json: boolean, ...words: string[]])[] = [
  [true, "archive", "search", "x"],
  [true, "archive", "documents", "17"],
  [true, "archive", "digidoc", "5"],
  [true, "archive", "document", "5"],
  [true, "archive", "folders"],
  [true, "archive", "folder", "17"],
  [true, "archive", "upload", "plain.txt", "--folder-id", "17"],
  [true, "check"],
  [true, "plan"],
  [true, "sync", "--no-wait"],
  [true, "status"],
  [true, "list"],
  [true, "explain", `scans/${HOSTILE}.txt`],
  [true, "verify"],
  [true, "adopt"],
  [false, "receipt"],
  [true, "retry", "--anyway"],
];

test.for(["lies", "refuses", "rambles"] as const)(
  "an archive that %s steers no terminal, by any field through any command",
  async (temper) => {
    const dir = mkdtempSync(join(tmpdir(), "scanferry-hostile-"));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    mkdirSync(join(dir, "scans"));
    writeFileSync(join(dir, "plain.txt"), "plain");
    for (const name of ["plain.txt", `${HOSTILE}.txt`])
      writeFileSync(join(dir, "scans", name), name);
    const config = join(dir, "config.yaml");
    const yaml = `archive: { url: "${await aHostileArchive(temper)}", accountKey: key, signing: { secret: secret } }
mirrors: [{ name: scans, source: scans, targetId: 17, settle: 100ms }]
journal: journal.db
upload: { retry: { initial: 100ms, max: 100ms }, doubt: { window: 200ms } }
`;
    writeFileSync(config, yaml, { mode: 0o600 });
    let said = "";
    for (const [hasJson, ...words] of COMMANDS) {
      // JSON is never painted, though it is asked for.
      for (const more of hasJson ? [[], ["--json"]] : [[]]) {
        for (const env of more.length > 0 ? [{ FORCE_COLOR: "1" }] : [{}, { FORCE_COLOR: "1" }]) {
          const given = ["--config", config, ...words, ...more];
          const { stdout, stderr } = await scanferry(given, { cwd: dir, env });
          const what = `${given.slice(2).join(" ")}\n${stdout}${stderr}`;
          const written = `${stdout}${stderr}`.replaceAll(PAINT, "");
          said += written;
          expect(written.replaceAll(/[\n\t]/g, ""), what).not.toMatch(STEERING);
          for (const line of linesOf(written)) expect(line, what).not.toMatch(/^\s*FAKE/);
          if (more.length > 0 && stdout !== "") expect(() => jsonIn(stdout), what).not.toThrow();
        }
      }
    }
    // It was shown, and not left out.
    expect(said).toContain("FAKE");
  },
);

/** One JSON text, or one a line. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return linesOf(text).map((line): unknown => JSON.parse(line));
  }
}
