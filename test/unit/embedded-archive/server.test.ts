import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { PATHS } from "../../../src/wire/shapes.ts";
import { signedForm, signedUpload } from "../../fixtures/sign.ts";
import { ArchiveUnderTest, outcomeOf } from "../../contract/conformance/archive-under-test.ts";

describe("requests that no client of ours sends", () => {
  const multipart = { "content-type": "multipart/form-data; boundary=b" };
  const manyParts = Array.from({ length: 500 }, (_, n) => part(`f${n}`, "x")).join("");
  test.for([
    ["a form of 2 MB", "x=".padEnd(2_000_000, "x"), undefined, 413],
    ["multipart without a boundary", "--b--", { "content-type": "multipart/form-data" }, 400],
    ["multipart that is none", "garbage", multipart, 400],
    [
      "multipart with a boundary of 300 letters",
      "--b--",
      { "content-type": `multipart/form-data; boundary=${"b".repeat(300)}` },
      400,
    ],
    ["500 parts", `${manyParts}--b--\r\n`, multipart, 413],
    [
      "a head of 100 KB",
      `--b\r\nX-A: ${"x".repeat(100_000)}\r\n\r\nx\r\n--b--\r\n`,
      multipart,
      200,
    ],
    ["a field of 1 MB", `${part("query", "x".repeat(1_000_000))}--b--\r\n`, multipart, 200],
    ["broken percent signs", "query=%E0%A4%A&acc_key=%", undefined, 200],
    ["no body", "", undefined, 200],
  ] as const)("%s gives status %#", async ([, body, headers, status]) => {
    await using under = await ArchiveUnderTest.open();
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const reply = await under.post("upload", body, headers ?? form);
    expect([reply.status, reply.body.response]).toEqual([status, "ERROR"]);
    expect(outcomeOf(await under.upload({ filename: "a.txt" }))).toBe("OK");
  });

  test.for([
    [
      "POST /api/v0_4/%zz HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n",
      400,
      "MALFORMED_REQUEST",
    ],
    ["\u0000\u0001 garbage\r\n\r\n", 400, "MALFORMED_REQUEST"],
    ["POST / HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n", 400, "MALFORMED_REQUEST"],
    ["POST /api/v0_4/search.html HTTP/1.1\r\n\r\n", 400, "MALFORMED_REQUEST"],
    [
      "POST /api/v0_4/search.html HTTP/1.1\r\nhost: a\r\nexpect: a-miracle\r\n\r\n",
      200,
      "INVALID_ACC_KEY",
    ],
    ["POST /api/v0_4/search.html HTTP/1.0\r\n\r\n", 200, "INVALID_ACC_KEY"],
    [`GET / HTTP/1.1\r\nhost: a\r\nx: ${"x".repeat(20_000)}\r\n\r\n`, 431, "REQUEST_TOO_LARGE"],
  ] as const)(
    "%# what no operation is asked with is answered in the interface's form",
    async ([bytes, status, code]) => {
      await using under = await ArchiveUnderTest.open();
      const socket = connect(Number(new URL(under.archive.url).port), "127.0.0.1");
      socket.on("error", () => {}).write(bytes);
      let reply = "";
      for await (const chunk of socket) {
        reply += String(chunk);
        if (reply.includes("}")) break;
      }
      const [head = "", body = ""] = reply.split("\r\n\r\n");
      expect(head).toContain(`HTTP/1.1 ${status} `);
      expect(head.toLowerCase()).toContain("content-type: application/json;charset=utf-8");
      expect(JSON.parse(body)).toEqual({ response: "ERROR", responseDescription: code });
    },
  );

  test("bytes that are no HTTP, and silence, disturb nobody", async () => {
    await using under = await ArchiveUnderTest.open();
    const port = Number(new URL(under.archive.url).port);
    const silent = connect(port, "127.0.0.1");
    const noisy = connect(port, "127.0.0.1");
    for (const socket of [silent, noisy]) socket.on("error", () => {}).resume();
    noisy.write("\u0000\u0001 garbage\r\n\r\n");
    await once(noisy, "close");
    expect(outcomeOf(await under.ask("folder"))).toBe("OK");
    silent.destroy();
  });

  test("a client that goes away in the middle is no fault of the archive", async () => {
    const log: unknown[] = [];
    await using under = await ArchiveUnderTest.open({ log: (event) => log.push(event) });
    const leaving = request(under.archive.url + PATHS.upload, {
      method: "POST",
      headers: multipart,
    });
    const left = new Promise((resolve) => leaving.on("error", resolve));
    leaving.write('--b\r\nContent-Disposition: form-data; name="x"; filename="x"\r\n\r\nfirst');
    const uploads = () => under.archive.requests().upload;
    await expect.poll(uploads).toBe(1);
    leaving.destroy(new Error("gone"));
    await left;
    expect(outcomeOf(await under.upload({ filename: "a.txt" }))).toBe("OK");
    await under.archive.close();
    expect(log).toEqual([]);
  });

  test("closing does not wait for an upload that never ends", async () => {
    await using under = await ArchiveUnderTest.open();
    const stalled = request(under.archive.url + PATHS.upload, {
      method: "POST",
      headers: multipart,
    });
    const broken = new Promise((resolve) => stalled.on("error", resolve));
    stalled.write('--b\r\nContent-Disposition: form-data; name="x"; filename="x"\r\n\r\nfirst');
    await expect.poll(() => under.archive.requests().upload).toBe(1);
    await under.archive.close();
    await broken;
  });

  test("a body that comes byte by byte is a body", async () => {
    await using under = await ArchiveUnderTest.open();
    const bytes = Buffer.from(
      await new Response(signedUpload({ filename: "a" }, Buffer.from("\r\n--not"))).text(),
    );
    const boundary = /^--(\S+)/.exec(bytes.toString())?.[1];
    const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
    const sending = request(under.archive.url + PATHS.upload, { method: "POST", headers });
    for (const byte of bytes) sending.write(Buffer.of(byte));
    sending.end();
    const [response] = await once(sending, "response");
    expect(JSON.parse(String(Buffer.concat(await response.toArray())))).toMatchObject({
      response: "OK",
    });
    expect(under.archive.documents()).toMatchObject([{ size: 7 }]);
  });
});

test("the counts of requests include refusals", async () => {
  await using under = await ArchiveUnderTest.open();
  await under.ask("search");
  await under.post("search", signedForm({}, { key: "x", secret: "x" }));
  expect(under.archive.requests()).toMatchObject({ search: 2, upload: 0 });
});

function part(name: string, value: string): string {
  return `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
}
