import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { ArchiveUnderTest } from "../../contract/conformance/archive-under-test.ts";

/** What others may do with anything below the directory. */
function openIn(dataDir: string): string[] {
  return [".", ...readdirSync(dataDir, { recursive: true, encoding: "utf8" })].filter(
    (name) => (statSync(join(dataDir, name)).mode & 0o077) !== 0,
  );
}

test("all of an archive is its owner's alone, and what was open is closed", async () => {
  await using under = await ArchiveUnderTest.open();
  await under.store("a.txt");
  expect(openIn(under.dataDir)).toEqual([]);
  await under.archive.close();
  // As an earlier version left it.
  for (const name of ["archive.db", "lock.db"]) chmodSync(join(under.dataDir, name), 0o644);
  for (const name of ["blobs", "incoming", "."]) chmodSync(join(under.dataDir, name), 0o755);
  await using again = await ArchiveUnderTest.open({ dataDir: under.dataDir });
  expect(openIn(again.dataDir)).toEqual([]);
});

test("a directory that has something else in it stays open, and the archive's part is closed", async () => {
  await using under = await ArchiveUnderTest.open();
  await under.archive.close();
  mkdirSync(join(under.dataDir, "shared"));
  writeFileSync(join(under.dataDir, "shared", "readme"), "");
  chmodSync(under.dataDir, 0o755);
  await using again = await ArchiveUnderTest.open({ dataDir: under.dataDir });
  expect(statSync(again.dataDir).mode & 0o777).toBe(0o755);
  expect(openIn(again.dataDir).filter((name) => !name.startsWith("shared"))).toEqual(["."]);
});

test("what is refused is not read without end", async () => {
  await using under = await ArchiveUnderTest.open();
  const piece = Buffer.alloc(1024 * 1024, "x");
  /** How many pieces leave before it is answered, or cut off. */
  const taken = async (path: string, type: string, start: string, pieces: number) => {
    const headers = { "content-type": type };
    const asking = request(under.archive.url + path, { method: "POST", headers });
    const over = Promise.withResolvers<void>();
    asking.on("response", (response) => response.resume()).on("response", () => over.resolve());
    asking.on("error", () => over.resolve());
    let left = 0;
    Readable.from(
      (function* body() {
        yield start;
        for (; left < pieces; left++) yield piece;
      })(),
    ).pipe(asking);
    await over.promise;
    asking.destroy();
    return left;
  };
  const upload = "/api/v0_4/document/upload.html";
  const part = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n';
  expect(await taken(upload, "text/plain", "x", 60)).toBeLessThan(60);
  expect(await taken(upload, "multipart/form-data; boundary=b", part, 200)).toBeLessThan(200);
});

test("half-open connections keep nobody from it", async () => {
  await using under = await ArchiveUnderTest.open();
  const port = Number(new URL(under.archive.url).port);
  const sockets = Array.from({ length: 520 }, () => connect(port, "127.0.0.1"));
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  for (const socket of sockets) socket.on("error", () => {}).write("POST / HTTP/1.1\r\n");
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  expect((await fetch(under.archive.url)).status).toBe(200);
});
