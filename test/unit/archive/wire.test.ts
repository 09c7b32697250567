import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Upload } from "../../../src/archive/archive.ts";
import { formBody, frameOf } from "../../../src/archive/request-body.ts";
import { openSigner, type RequestField } from "../../../src/archive/credentials.ts";
import { CANARIES, fileOf, never, openOn, scan } from "./fixture.ts";
import { detail, type Heard, RawServer, reply, stored } from "./raw-server.ts";

type Part = { headers: string; name: string; filename: string | undefined; body: Buffer };

/** Takes a multipart body apart by the letter of RFC 2046, so that nothing is forgiven. */
function partsOf(contentType: string, body: Buffer): Part[] {
  const boundary = /^multipart\/form-data; boundary=(\S+)$/.exec(contentType)?.[1];
  if (!boundary) throw new Error(`no boundary in ${contentType}`);
  const text = body.toString("latin1");
  const pieces = `\r\n${text}`.split(`\r\n--${boundary}`);
  expect(pieces.shift()).toBe("");
  expect(pieces.pop()).toBe("--\r\n");
  return pieces.map((piece) => {
    expect(piece.startsWith("\r\n")).toBe(true);
    const end = piece.indexOf("\r\n\r\n");
    const headers = Buffer.from(piece.slice(2, end), "latin1").toString("utf8");
    return {
      headers,
      name: /^Content-Disposition: form-data; name="([^"]*)"/.exec(headers)?.[1] ?? "",
      filename: /; filename="([^"]*)"/.exec(headers)?.[1],
      body: Buffer.from(piece.slice(end + 4), "latin1"),
    };
  });
}

async function hear(
  answer: Buffer,
  call: (archive: Awaited<ReturnType<typeof openOn>>) => Promise<unknown>,
  prefix = "",
): Promise<Heard> {
  await using server = await RawServer.open({ onWhole: (socket) => socket.write(answer) });
  await using archive = await openOn({ url: server.url + prefix });
  await call(archive);
  return server.only;
}

const page = reply(
  200,
  JSON.stringify({ response: "OK", paginationPages: 1, paginationSize: 5, documents: [detail()] }),
);

test("what is inside a digidoc may be anywhere, and from any time", async () => {
  const documents = [
    { id: 41, filename: "a.txt", digidocId: 9 },
    { id: "42", filename: "b.txt", folderId: null, createdDate: null, uploadedDate: 7, pages: 2 },
  ];
  const inside = { response: "OK", paginationPages: 1, paginationSize: 5, documents };
  await hear(reply(200, JSON.stringify(inside)), async (archive) => {
    expect((await archive.digidoc({ digidocId: 9 }, never)).documents).toMatchObject([
      { id: 41, filename: "a.txt", digidocId: 9, digidoc: false, pages: 0, filesize: 0 },
      { id: 42, filename: "b.txt", createdDate: 7, uploadedDate: 7, pages: 2 },
    ]);
  });
});

test("a small request is a form with acc_key and sig, percent-encoded", async () => {
  const heard = await hear(page, (archive) =>
    archive.documents({ folderId: 7, sortBy: "UPLOADED_DATE", sortDesc: true }, never),
  );
  expect(heard.requestLine).toBe("POST /api/v0_4/document/list.html HTTP/1.1");
  expect(heard.headers.get("content-type")).toBe(
    "application/x-www-form-urlencoded; charset=UTF-8",
  );
  expect(heard.headers.get("accept-encoding")).toBe("identity");
  expect(heard.headers.get("connection")).toBe("keep-alive");
  expect(heard.headers.get("content-length")).toBe(String(heard.body.length));
  const sent = [...new URLSearchParams(heard.body.toString()).entries()] as RequestField[];
  const signer = await openSigner({
    scheme: "hmac",
    algorithm: "sha256",
    encoding: "base64",
    secret: CANARIES.secret,
  });
  const sig = await signer.sign(
    sent.filter(([name]) => name !== "sig"),
    "",
  );
  expect(sent).toEqual([
    ["folderId", "7"],
    ["sortBy", "UPLOADED_DATE"],
    ["sortDesc", "true"],
    ["acc_key", CANARIES.accountKey],
    ["sig", sig],
  ]);
  expect(heard.body.toString()).toContain(`sig=${encodeURIComponent(sig)}`);
});

test.for([
  ["", "/api/v0_4/folder/info.html", "the base is the host"],
  ["/", "/api/v0_4/folder/info.html", "a slash at the end is not doubled"],
  ["/dms", "/dms/api/v0_4/folder/info.html", "the base may have a path"],
  ["/a/b/", "/a/b/api/v0_4/folder/info.html", "of several parts"],
] as const)("below the base %s the path is %s: %s", async ([prefix, path]) => {
  const root = { id: 1, name: "", createdDate: 0, root: true };
  const answer = reply(200, JSON.stringify({ response: "OK", folder: root }));
  const heard = await hear(answer, (archive) => archive.folder(undefined, never), prefix);
  expect(heard.requestLine).toBe(`POST ${path} HTTP/1.1`);
});

test("an upload is valid multipart: fields, acc_key, sig, and the file last", async () => {
  const bytes = Buffer.from("%PDF-1.7\r\n--not-the-boundary\r\n\x00\xff", "latin1");
  const heard = await hear(stored(), (archive) =>
    archive.upload(
      scan(fileOf(bytes), {
        batch: "b-1",
        expireDate: 1_800_000_000_000,
        metadata: { title: "Tëst", keywords: "" },
      }),
      never,
    ),
  );
  const parts = partsOf(heard.headers.get("content-type") ?? "", heard.body);
  expect(heard.headers.has("transfer-encoding")).toBe(false);
  expect(parts.map(({ name, filename, body }) => [name, filename ?? body.toString()])).toEqual([
    ["folderId", "7"],
    ["filename", "scan.pdf"],
    ["batch", "b-1"],
    ["expireDate", "1800000000000"],
    ["metadataTitle", "Tëst"],
    ["metadataKeywords", ""],
    ["acc_key", CANARIES.accountKey],
    ["sig", expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/)],
    ["file", "scan.pdf"],
  ]);
  expect(parts.at(-1)?.body.equals(bytes)).toBe(true);
  expect(parts.at(-1)?.headers).toContain("Content-Type: application/pdf");
});

test.for([
  [0, "an empty file has a part of its own all the same"],
  [1, "the smallest file"],
  [512 * 1024, "the largest that goes out as one piece"],
  [512 * 1024 + 1, "the smallest that goes out in slices"],
  [5 * 1024 * 1024 + 7, "many slices, the last of them short"],
] as const)("%i bytes arrive as they are: %s", async ([size]) => {
  const bytes = Buffer.alloc(size, "0123456789abcdef!");
  const heard = await hear(stored(), (archive) => archive.upload(scan(fileOf(bytes)), never));
  const file = partsOf(heard.headers.get("content-type") ?? "", heard.body).at(-1);
  expect(file?.body.equals(bytes)).toBe(true);
});

test("a stream arrives as it is, whatever its chunks", async () => {
  const chunks = [10, 0, 70_000, 1, 300_000].map((size, i) => Buffer.alloc(size, String(i)));
  const whole = Buffer.concat(chunks);
  const file: Upload["file"] = {
    sizeBytes: whole.length,
    chunks: async function* () {
      yield* chunks;
    },
  };
  const heard = await hear(stored(), (archive) => archive.upload(scan(file), never));
  const part = partsOf(heard.headers.get("content-type") ?? "", heard.body).at(-1);
  expect(part?.body.equals(whole)).toBe(true);
});

test("connections are kept and used again", async () => {
  await using server = await RawServer.open({ onWhole: (socket) => socket.write(stored()) });
  await using archive = await openOn(server, { connections: 1 });
  for (let i = 0; i < 5; i++) await archive.upload(scan(), never);
  expect([server.heard.length, server.sockets.length]).toEqual([5, 1]);
});

// UTF-8 holds no half surrogate pairs; `parameters` refuses them.
const unicode = fc.string({ unit: "binary", maxLength: 60 }).filter((text) => text.isWellFormed());

test("any text survives url-encoding, and sig has nothing that a form could misread", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(unicode, unicode), { maxLength: 5 }), (fields) => {
      const body = formBody(fields).toString("latin1");
      expect([...new URLSearchParams(body).entries()]).toEqual(fields);
      expect(body).toMatch(/^[A-Za-z0-9\-_.~%&=]*$/);
    }),
  );
});

test("what forms treat specially is percent-encoded, a space too", () => {
  expect(formBody([["sig", "a+b/c=!'()* -_.~"]]).toString()).toBe(
    "sig=a%2Bb%2Fc%3D%21%27%28%29%2A%20-_.~",
  );
});

test("any text survives multipart, in fields and in the file's name", () => {
  const name = unicode.filter((text) => text !== "" && !text.includes("/"));
  fc.assert(
    fc.property(fc.array(unicode, { maxLength: 5 }), name, (values, filename) => {
      const fields = values.map((value, i): RequestField => [`field${i}`, value]);
      const { head, tail, contentType } = frameOf([...fields, ["filename", filename]], filename);
      const parts = partsOf(contentType, Buffer.concat([head, Buffer.from("file"), tail]));
      expect(parts.map(({ body }) => body.toString("utf8"))).toEqual([...values, filename, "file"]);
      expect(parts.at(-1)?.headers.split("\r\n")).toHaveLength(2);
    }),
  );
});

test.for([
  ['a"; name="acc_key', "%22", "a quote would end the name"],
  ["a\r\nX-Evil: 1\r\n\r\n", "_", "a line end would begin a header"],
  ["a\u0000\u007fb", "_", "strict parsers refuse control characters"],
] as const)(
  "the file name %j cannot break out of its header: %s instead, because %s",
  ([filename, as]) => {
    const { head, tail, contentType } = frameOf([], filename);
    const [part, ...more] = partsOf(contentType, Buffer.concat([head, tail]));
    expect(more).toEqual([]);
    expect(part?.name).toBe("file");
    expect(part?.filename).toContain(as);
    expect(part?.headers).toMatch(
      /^Content-Disposition: form-data; name="file"; filename="[^"\p{Cc}]*"\r\nContent-Type: [^\r\n]+$/u,
    );
  },
);
