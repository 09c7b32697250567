import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import type { HttpArchive } from "../../../src/archive/http-archive.ts";
import { CANARIES, errorOf, never, openOn, scan } from "./fixture.ts";
import { type Heard, RawServer, reply, type Script } from "./raw-server.ts";

const { accountKey, secret } = CANARIES;

/** Everything that a log could make of an error: text, stack, properties, causes. */
function everythingOf(error: unknown): string {
  return `${inspect(error, { depth: 20, showHidden: true })} ${JSON.stringify(error)}`;
}

/** The request's own words, sent back in every place where a reply has room. */
const echo = (heard: Heard) => heard.body.toString("latin1");

const sigOf = (heard: Heard | undefined) =>
  heard &&
  (new URLSearchParams(echo(heard)).get("sig") ??
    /name="sig"\r\n\r\n(.*)\r\n/.exec(echo(heard))?.[1]);

test.for([
  [{ onWhole: (s) => void s.destroy() }, "the connection is lost"],
  [{ onHead: (s) => void s.resetAndDestroy() }, "the connection is reset"],
  [{ onWhole: () => {} }, "no reply comes"],
  [{ onWhole: (s, h) => void s.end(echo(h)) }, "the reply is no HTTP, and repeats the request"],
  [
    { onWhole: (s, h) => void s.end(`HTTP/1.1 200 ${echo(h).slice(0, 9)}\r\n\u0000${echo(h)}`) },
    "its headers are broken",
  ],
  [{ onWhole: (s, h) => void s.write(reply(200, echo(h))) }, "its body is the request"],
  [{ onWhole: (s, h) => void s.write(reply(500, echo(h))) }, "its body is the request, HTTP 500"],
  [
    {
      onWhole: (s, h) =>
        void s.write(reply(307, "", [`location: /?${echo(h).replace(/[\r\n]/g, "")}`])),
    },
    "it redirects to a place with the key",
  ],
  [
    {
      onWhole: (s) =>
        void s.write(
          reply(200, JSON.stringify({ response: "ERROR", responseDescription: accountKey })),
        ),
    },
    "the key stands where the code should",
  ],
  [
    {
      onWhole: (s) =>
        void s.write(
          reply(401, JSON.stringify({ response: "ERROR", responseDescription: { code: secret } })),
        ),
    },
    "the secret stands where the code should",
  ],
  [
    {
      onWhole: (s) =>
        void s.write(reply(200, JSON.stringify({ response: "OK", document: { id: accountKey } }))),
    },
    "the key stands where the id should",
  ],
  [
    {
      onWhole: (s, h) => {
        const filename = `${accountKey}${secret}${sigOf(h)}`.repeat(9);
        const document = { id: 1, folderId: 7, filename, createdDate: 1 };
        s.write(reply(200, JSON.stringify({ response: "OK", document })));
      },
    },
    "what is secret stands where the name should",
  ],
] as [Script, string][])("%# no error gives anything away when %s", async ([script]) => {
  await using server = await RawServer.open(script);
  await using archive = await openOn(server, { timeoutMs: 200 });
  const calls = [
    (a: HttpArchive) => a.upload(scan(), never),
    (a: HttpArchive) => a.documents({}, never),
  ];
  for (const call of calls) {
    const text = everythingOf(await errorOf(call(archive)));
    const sig = sigOf(server.heard.at(-1));
    for (const word of [accountKey, secret, ...(sig ? [sig, encodeURIComponent(sig)] : [])]) {
      expect(text).not.toContain(word);
    }
  }
});

test("nor do errors before anything is sent", async () => {
  await using archive = await openOn({ url: "http://127.0.0.1:1" });
  const errors = [
    await errorOf(archive.upload(scan(), never)),
    await errorOf(archive.upload(scan(undefined, { filename: "" }), never)),
    await errorOf(archive.upload(scan(), AbortSignal.abort(new Error("stop")))),
  ];
  await archive.close();
  errors.push(await errorOf(archive.upload(scan(), never)));
  for (const error of errors) {
    expect(everythingOf(error)).not.toContain(accountKey);
    expect(everythingOf(error)).not.toContain(secret);
  }
  expect(everythingOf(archive)).not.toContain(secret);
});

test.for([
  [
    "(f) => { throw new Error('cannot sign ' + JSON.stringify(f)); }",
    "it throws what it was given",
  ],
  ["async (f) => { throw new Error(f.join()); }", "it rejects with what it was given"],
  ["() => 5", "it returns no text"],
  ["() => ''", "it returns nothing"],
  ["() => new Promise(() => {})", "it never returns"],
] as const)("%# a signing module that fails gives nothing away: %s", async ([source]) => {
  const dir = await mkdtemp(join(tmpdir(), "signing-"));
  const module = join(dir, "sign.mjs");
  await writeFile(module, `export default ${source};`);
  await using server = await RawServer.open({});
  await using archive = await openOn(server, {
    timeoutMs: 100,
    signing: { scheme: "module", module },
  });
  const error = await errorOf(archive.upload(scan(), never));
  expect(error).toMatchObject({ kind: "notSent", code: "SIGNING_FAILED" });
  expect(everythingOf(error)).not.toContain(accountKey);
  expect(server.sockets).toEqual([]);
  await rm(dir, { recursive: true });
});
