import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, writeFile, mkdir } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { EmbeddedArchive } from "../../../src/embedded-archive/embedded-archive.ts";
import { PATHS } from "../../../src/wire/shapes.ts";
import { pdfOf } from "../../fixtures/documents.ts";
import { signed, signedUpload } from "../../fixtures/sign.ts";
import { ArchiveUnderTest, outcomeOf } from "../../contract/conformance/archive-under-test.ts";

async function filesBelow(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

describe("what was answered with OK stays", () => {
  test("over closing and opening, with folders, charges and conversions", async () => {
    await using under = await ArchiveUnderTest.open({ convertDelayMs: 3_600_000, folders: ["/A"] });
    await under.store("a.pdf", pdfOf(3), { path: "/A", batch: "b" });
    const before = under.archive.documents();
    await under.archive.close();
    await using again = await ArchiveUnderTest.open({ dataDir: under.dataDir });
    expect(again.archive.documents()).toEqual(before);
    expect(again.archive.createFolder("/A")).toBe(before[0]?.folderId);
  });

  test("what was not yet converted is converted after a restart", async () => {
    await using under = await ArchiveUnderTest.open({ convertDelayMs: 100 });
    await under.store("a.pdf", pdfOf(3));
    await under.archive.close();
    await using again = await ArchiveUnderTest.open({ dataDir: under.dataDir });
    await again.archive.idle();
    expect(again.archive.documents()).toMatchObject([{ status: "CONVERTED", pages: 3 }]);
    expect(again.archive.pagesUsed()).toBe(3);
  });

  test("over a SIGKILL", async () => {
    await using under = await ArchiveUnderTest.open();
    await under.archive.close();
    const archive = new URL("../../../src/embedded-archive/embedded-archive.ts", import.meta.url);
    const program = `import { EmbeddedArchive } from ${JSON.stringify(archive.href)};
      const listen = { host: "127.0.0.1", port: 0 };
      const archive = await EmbeddedArchive.open({ dataDir: ${JSON.stringify(under.dataDir)}, listen });
      console.log(archive.url);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [url] = (await once(createInterface(child.stdout), "line")) as [string];
    const uploads = Array.from({ length: 20 }, async (_, n) => {
      const body = signedUpload({ filename: `${n}.txt` }, Buffer.from(`content ${n}`));
      const response = await fetch(url + PATHS.upload, { method: "POST", body });
      const { document } = (await response.json()) as { document: { id: number } };
      // The first reply is the signal: some uploads are then stored, others are not.
      child.kill("SIGKILL");
      return document.id;
    });
    const outcomes = await Promise.allSettled(uploads);
    const acknowledged = outcomes.flatMap((o) => (o.status === "fulfilled" ? [o.value] : []));
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    await using again = await ArchiveUnderTest.open({ dataDir: under.dataDir });
    const documents = again.archive.documents();
    expect(documents.map(({ id }) => id)).toEqual(expect.arrayContaining(acknowledged));
    expect(acknowledged.length).toBeGreaterThan(0);
    const blobs = await filesBelow(join(under.dataDir, "blobs"));
    expect(blobs.sort()).toEqual(documents.map(({ sha256 }) => sha256).sort());
    expect(await filesBelow(join(under.dataDir, "incoming"))).toEqual([]);
  });
});

describe("a body that breaks off leaves nothing", () => {
  const fields = signed({ filename: "a.txt" })
    .map(
      ([name, value]) =>
        `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    )
    .join("");
  const file =
    '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nthe content';
  const whole = `${fields}${file}\r\n--b--\r\n`;
  const head = (length: number) =>
    `POST ${PATHS.upload} HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n` +
    `Content-Length: ${length}\r\n\r\n`;

  test.for([
    [fields.length - 5, "in the fields"],
    [fields.length + 10, "in the head of the file"],
    [fields.length + file.length - 3, "in the file"],
    [fields.length + file.length, "before the closing boundary"],
    [fields.length + file.length + 5, "after the boundary, before the two dashes that end it"],
  ] as const)("after %i bytes, %s: the connection breaks", async ([length]) => {
    await using under = await ArchiveUnderTest.open();
    const socket = connect(Number(new URL(under.archive.url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.end(head(whole.length) + whole.slice(0, length));
    socket.resume();
    await once(socket, "close");
    // The next upload on the same archive is served, and nothing of the last one is there.
    expect(outcomeOf(await under.upload({ filename: "next.txt" }))).toBe("OK");
    expect(under.archive.documents().map(({ filename }) => filename)).toEqual(["next.txt"]);
    await expect.poll(() => filesBelow(join(under.dataDir, "incoming"))).toEqual([]);
  });

  test.for([
    [fields.length + file.length - 3, "in the file"],
    [fields.length + file.length, "before the closing boundary"],
    [fields.length + file.length + 5, "before the two dashes that end it"],
  ] as const)("after %i bytes, %s: the request ends as if it were whole", async ([length]) => {
    await using under = await ArchiveUnderTest.open();
    const reply = await under.post("upload", whole.slice(0, length), {
      "content-type": "multipart/form-data; boundary=b",
    });
    expect([reply.status, outcomeOf(reply)]).toEqual([400, "MALFORMED_REQUEST"]);
    expect(under.archive.documents()).toEqual([]);
    expect(await filesBelow(join(under.dataDir, "incoming"))).toEqual([]);
    expect(await filesBelow(join(under.dataDir, "blobs"))).toEqual([]);
  });

  test("the whole body is stored: the cuts above are what they say", async () => {
    await using under = await ArchiveUnderTest.open();
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    expect(outcomeOf(await under.post("upload", whole, headers))).toBe("OK");
    expect(under.archive.documents()).toMatchObject([{ size: "the content".length }]);
  });
});

describe("opening", () => {
  const listen = { host: "127.0.0.1", port: 0 };
  test("what a crash left between blob and row is swept away", async () => {
    await using under = await ArchiveUnderTest.open();
    await under.store("a.txt");
    await under.archive.close();
    await mkdir(join(under.dataDir, "blobs", "00"), { recursive: true });
    await writeFile(join(under.dataDir, "blobs", "00", "0".repeat(64)), "orphan");
    await writeFile(join(under.dataDir, "incoming", "half"), "half");
    await using again = await ArchiveUnderTest.open({ dataDir: under.dataDir });
    expect(await filesBelow(join(under.dataDir, "blobs"))).toEqual([
      again.archive.documents()[0]?.sha256,
    ]);
    expect(await filesBelow(join(under.dataDir, "incoming"))).toEqual([]);
  });

  test("a directory that is open already, a newer one, a taken port: Faults with a fix", async () => {
    await using under = await ArchiveUnderTest.open();
    const { dataDir } = under;
    const open = EmbeddedArchive.open({ dataDir, listen });
    await expect(open).rejects.toMatchObject({ code: "EMBEDDED_ARCHIVE_IN_USE" });
    const port = Number(new URL(under.archive.url).port);
    const taken = EmbeddedArchive.open({
      dataDir: join(dataDir, "b"),
      listen: { ...listen, port },
    });
    await expect(taken).rejects.toMatchObject({ code: "EMBEDDED_ARCHIVE_LISTEN" });
    await under.archive.close();
    const db = new Database(join(dataDir, "archive.db"));
    db.pragma("user_version = 99");
    db.close();
    const newer = EmbeddedArchive.open({ dataDir, listen });
    await expect(newer).rejects.toMatchObject({ code: "EMBEDDED_ARCHIVE_TOO_NEW" });
  });

  test.for([
    [{ accounts: [] }, "nobody could ask anything"],
    [
      {
        accounts: [
          { key: "a", secret: "1" },
          { key: "a", secret: "2" },
        ],
      },
      "which secret?",
    ],
    [{ accounts: [{ key: "", secret: "1" }] }, "a missing key must not be right"],
    [{ folders: ["A/B"] }, "no path"],
    [{ folders: ["/A//B"] }, "an empty name"],
  ] as const)("%j is refused: %s", async ([options]) => {
    await using under = await ArchiveUnderTest.open();
    const dataDir = join(under.dataDir, "another");
    const open = EmbeddedArchive.open({ dataDir, listen, ...structuredClone(options) });
    await expect(open).rejects.toMatchObject({ code: "EMBEDDED_ARCHIVE_OPTIONS" });
  });

  test("closing twice is closing once", async () => {
    await using under = await ArchiveUnderTest.open();
    await Promise.all([under.archive.close(), under.archive.close()]);
    await under.archive.idle();
  });
});
