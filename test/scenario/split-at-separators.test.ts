/** The example hook that is shipped: every part once, whatever happens to it. */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { pdfOf } from "../fixtures/documents.ts";
import { stackOf } from "../fixtures/separators.ts";

const HOOK = fileURLToPath(new URL("../../config/hooks/split-at-separators", import.meta.url));
const has = (program: string) => spawnSync("which", [program]).status === 0;
const canSplit = ["python3", "qpdf", "pdftotext"].every(has);
const canReadBarcodes = canSplit && ["pdftoppm", "zbarimg"].every(has);

type Run = { readonly code: number | null; readonly answer: string; readonly said: string };

/** A folder of scans, and the hook asked about one of them. */
class Scans {
  readonly dir = mkdtempSync(join(tmpdir(), "split-"));
  readonly source = join(this.dir, "scans");

  constructor() {
    mkdirSync(this.source);
    onTestFinished(() => rmSync(this.dir, { recursive: true, force: true }));
  }

  put(name: string, content: Buffer): void {
    writeFileSync(join(this.source, name), content);
  }

  start(name: string, words: readonly string[], path = process.env["PATH"] ?? "", sha256?: string) {
    const file = join(this.source, name);
    const child = spawn(HOOK, ["--state", join(this.dir, "state"), ...words], {
      stdio: "pipe",
      env: { PATH: path },
      detached: true,
    });
    const digest = () => createHash("sha256").update(readFileSync(file)).digest("hex");
    child.stdin.on("error", () => {});
    child.stdin.end(
      JSON.stringify({
        version: 1,
        fileBase64: Buffer.from(file).toString("base64"),
        sha256: sha256 ?? digest(),
      }),
    );
    return child;
  }

  async ask(name: string, words = ["--text", "NEW DOCUMENT"], ...more: string[]): Promise<Run> {
    const child = this.start(name, words, ...more);
    let answer = "";
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => void (answer += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => void (said += chunk.toString()));
    const [code] = (await once(child, "close")) as [number | null];
    return { code, answer, said };
  }

  /** Names in the folder that scanferry would send. */
  parts(): string[] {
    return readdirSync(this.source).filter((name) => name.includes(".part"));
  }

  /** The words on the pages of a file. */
  words(name: string): string[] {
    const file = join(this.source, name);
    const { stdout } = spawnSync("pdftotext", [file, "-"], { encoding: "utf8" });
    return stdout
      .split("\f")
      .map((page) => page.trim())
      .filter((page) => page !== "");
  }
}

const SHEET = "NEW DOCUMENT";

describe.skipIf(!canSplit)("splitting", () => {
  test("a stack becomes its documents, without the separator sheets", async () => {
    const scans = new Scans();
    scans.put("stack.pdf", stackOf(["a1", "a2", SHEET, "b1", SHEET, "c1", "c2"]));
    const { code, answer, said } = await scans.ask("stack.pdf");
    expect({ code, said }).toEqual({ code: 0, said: "" });
    expect(answer).toMatch(/^\{"veto": "split into stack\.part1of3\.\w{8}\.pdf, /);
    const parts = scans.parts().sort();
    expect(parts.map((part) => scans.words(part))).toEqual([["a1", "a2"], ["b1"], ["c1", "c2"]]);
    expect(existsSync(join(scans.source, "stack.pdf"))).toBe(true);
    expect(readdirSync(scans.source)).toHaveLength(4);
    // And they go as they are.
    for (const part of parts) expect((await scans.ask(part)).answer).toBe("{}");
  });

  test.for([
    ["no sheet", "it goes as it is", stackOf(["a", "b"]), "{}", 0],
    ["words around it", "that is no sheet", stackOf(["a", "A NEW DOCUMENT"]), "{}", 0],
    ["no PDF", "it goes as it is", Buffer.from("NEW DOCUMENT"), "{}", 0],
    ["sheets first and last", "one document", stackOf([SHEET, "a", SHEET]), "part1of1", 1],
    ["two sheets in a row", "two documents", stackOf(["a", SHEET, SHEET, "b"]), "part2of2", 2],
    ["sheets alone", "nothing to send", stackOf([SHEET, SHEET]), "nothing but separator sheets", 0],
  ] as const)("%s: %s", async ([, , content, says, parts]) => {
    const scans = new Scans();
    scans.put("x.pdf", content);
    const { answer, code } = await scans.ask("x.pdf");
    expect(code).toBe(0);
    expect(answer).toContain(says);
    expect(scans.parts()).toHaveLength(parts);
  });

  test.skipIf(!canReadBarcodes)("a sheet may bear a barcode", async () => {
    const scans = new Scans();
    scans.put("x.pdf", stackOf(["a", "|SPLIT|", "b", "|TIPS|", "c"]));
    expect((await scans.ask("x.pdf", ["--barcode", "SPLIT"])).code).toBe(0);
    const parts = scans.parts().sort();
    expect(parts.map((part) => scans.words(part))).toEqual([["a"], ["b", "c"]]);
  });

  test.for([
    ["a broken PDF", "scanferry holds it", Buffer.from("%PDF-1.4\nbroken"), undefined],
    ["another content than was hashed", "it settles again", pdfOf(1), "0".repeat(64)],
  ] as const)("%s: fails, writes nothing, and %s", async ([, , content, sha256]) => {
    const scans = new Scans();
    scans.put("x.pdf", content);
    const path = process.env["PATH"] ?? "";
    const more = sha256 === undefined ? [] : [path, sha256];
    const { code, said } = await scans.ask("x.pdf", ["--text", SHEET], ...more);
    expect(code).not.toBe(0);
    expect(said.trimEnd().split("\n").at(-1)).toMatch(
      /^(?:qpdf ended with exit code 2|the file has changed)$/,
    );
    expect(said).not.toContain("Traceback");
    expect(readdirSync(scans.source)).toEqual(["x.pdf"]);
  });

  test("a long name is cut between two characters", async () => {
    const scans = new Scans();
    scans.put(`x${"é".repeat(100)}.pdf`, stackOf(["a", SHEET, "b"]));
    expect((await scans.ask(`x${"é".repeat(100)}.pdf`)).code).toBe(0);
    for (const part of scans.parts()) expect(part).toMatch(/^xé{89}\.part[12]of2\.\w{8}\.pdf$/);
    expect(scans.parts()).toHaveLength(2);
  });

  test("someone's file is never overwritten", async () => {
    const scans = new Scans();
    scans.put("x.pdf", stackOf(["a", SHEET, "b"]));
    await scans.ask("x.pdf");
    const [part = ""] = scans.parts();
    const record = readdirSync(join(scans.dir, "state")).find((name) => name.endsWith(".json"));
    rmSync(join(scans.dir, "state", record ?? ""));
    writeFileSync(join(scans.source, part), "someone's");
    const { code, said } = await scans.ask("x.pdf");
    expect(code).not.toBe(0);
    expect(said).toContain("is not overwritten");
    expect(readFileSync(join(scans.source, part), "utf8")).toBe("someone's");
  });
});

describe.skipIf(!canSplit)("each part once", () => {
  test("asked again it writes nothing, though its parts were moved away", async () => {
    const scans = new Scans();
    scans.put("x.pdf", stackOf(["a", SHEET, "b"]));
    const { answer } = await scans.ask("x.pdf");
    for (const part of scans.parts()) renameSync(join(scans.source, part), join(scans.dir, part));
    expect((await scans.ask("x.pdf")).answer).toBe(answer);
    expect(scans.parts()).toEqual([]);
  });

  test("two at the same time", async () => {
    const scans = new Scans();
    scans.put("x.pdf", stackOf(["a", SHEET, "b"]));
    const runs = await Promise.all([scans.ask("x.pdf"), scans.ask("x.pdf")]);
    expect(runs.map(({ code }) => code)).toEqual([0, 0]);
    expect(scans.parts()).toHaveLength(2);
  });

  test("a folder that is away is not taken for parts that were handed over", async () => {
    const scans = new Scans();
    scans.put("x.pdf", stackOf(["a", SHEET, "b"]));
    await scans.ask("x.pdf");
    const sha256 = createHash("sha256")
      .update(readFileSync(join(scans.source, "x.pdf")))
      .digest("hex");
    renameSync(scans.source, `${scans.source}-away`);
    mkdirSync(scans.source);
    const { code } = await scans.ask("x.pdf", ["--text", SHEET], process.env["PATH"] ?? "", sha256);
    expect(code).not.toBe(0);
  });

  /**
   * Killed at each of its renamings, by a qpdf that does so or by a library call that does: what is
   * handed over is taken away at once, as scanferry might, and the hook asked again.
   */
  test.for([1, 2, 3, 4, 5, 6])("killed at its renaming number %d", async (at) => {
    const scans = new Scans();
    scans.put("x.pdf", stackOf(["a", SHEET, "b", SHEET, "c"]));
    const bin = join(scans.dir, "bin");
    mkdirSync(bin);
    writeFileSync(
      join(bin, "sitecustomize.py"),
      `import os, signal\nreal, left = os.rename, [${at}]\n` +
        "def rename(a, b):\n    left[0] -= 1\n" +
        "    if left[0] == 0: os.kill(os.getpid(), signal.SIGKILL)\n    real(a, b)\n" +
        "os.rename = rename\n",
    );
    const python = spawnSync("which", ["python3"], { encoding: "utf8" }).stdout.trim();
    writeFileSync(join(bin, "python3"), `#!/bin/sh\nPYTHONPATH=${bin} exec ${python} "$@"\n`);
    chmodSync(join(bin, "python3"), 0o755);
    const sent: string[] = [];
    const takeAway = () => {
      for (const part of scans.parts()) {
        sent.push(...scans.words(part));
        rmSync(join(scans.source, part));
      }
    };
    await scans.ask("x.pdf", ["--text", SHEET], [bin, process.env["PATH"]].join(delimiter));
    takeAway();
    expect((await scans.ask("x.pdf")).code).toBe(0);
    takeAway();
    expect(sent.sort()).toEqual(["a", "b", "c"]);
    expect(readdirSync(scans.source)).toEqual(["x.pdf"]);
  });
});
