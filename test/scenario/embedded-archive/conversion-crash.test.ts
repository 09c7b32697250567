/** A process that is killed while it converts makes the conversion again, and charges it once. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { PATHS } from "../../../src/wire/shapes.ts";
import { ArchiveUnderTest } from "../../contract/conformance/archive-under-test.ts";
import { asiceOf, pdfOf } from "../../fixtures/documents.ts";
import { signedUpload } from "../../fixtures/sign.ts";

/** Tells when a conversion begins, and when the thread is done with it. */
const program = (dataDir: string) => {
  const from = (name: string) =>
    JSON.stringify(new URL(`../../../src/embedded-archive/${name}.ts`, import.meta.url).href);
  return `import { EmbeddedArchive } from ${from("embedded-archive")};
    import { Converter } from ${from("converter")};
    const { run } = Converter.prototype;
    Converter.prototype.run = function (...given) {
      console.log("converting");
      return run.apply(this, given);
    };
    const options = { dataDir: ${JSON.stringify(dataDir)}, listen: { host: "127.0.0.1", port: 0 } };
    const archive = await EmbeddedArchive.open({ ...options, convertDelayMs: 0 });
    console.log(archive.url);`;
};

test.for([
  ["long.pdf", pdfOf(300, { text: "many words ".repeat(60) }), 300, 0],
  [
    "box.asice",
    asiceOf({ "a.pdf": pdfOf(250, { text: "words ".repeat(90) }), "b.txt": "b" }),
    1,
    2,
  ],
] as const)("%s", async ([filename, bytes, pages, inside]) => {
  await using under = await ArchiveUnderTest.open();
  await under.archive.close();
  const child = spawn(process.execPath, ["--input-type=module", "-e", program(under.dataDir)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const url = (await lines.next()).value as string;
  const body = signedUpload({ filename }, bytes);
  const reply = await fetch(url + PATHS.upload, { method: "POST", body });
  const { document } = (await reply.json()) as { document: { id: number } };
  expect((await lines.next()).value).toBe("converting");
  child.kill("SIGKILL");
  await once(child, "exit");

  await using again = await ArchiveUnderTest.open({
    dataDir: under.dataDir,
    convertDelayMs: 3_600_000,
  });
  await again.archive.idle();
  expect(again.archive.documents()).toMatchObject([
    { id: document.id, status: "CONVERTED", pages },
  ]);
  expect(again.archive.pagesUsed()).toBe(pages);
  if (inside === 0) return;
  const list = await again.ask("digidoc", { digidocId: String(document.id) });
  expect(list.body["documents"]).toHaveLength(inside);
});
