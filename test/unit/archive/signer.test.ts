import * as fc from "fast-check";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, describe } from "vitest";
import {
  type RequestField,
  measuredText,
  openSigner,
  signedText,
} from "../../../src/archive/credentials.ts";
import { Fault } from "../../../src/std/fault.ts";
import { PATHS } from "../../../src/wire/shapes.ts";
import { HMAC2_VECTORS, VECTOR_SECRET } from "../../fixtures/hmac2-vectors.ts";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { HttpArchive } from "../../../src/archive/http-archive.ts";
import { systemClock } from "../../../src/std/clock.ts";
import { ArchiveUnderTest } from "../../contract/conformance/archive-under-test.ts";
import { errorOf, never, settingsFor } from "./fixture.ts";

describe("signing", () => {
  let dir = "";
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "signing-"));
  });
  afterAll(() => rm(dir, { recursive: true }));

  const FIELDS: RequestField[] = [
    ["folderId", "7"],
    ["filename", "Żółć.pdf"],
    ["batch", "b"],
    ["acc_key", "KEY"],
  ];
  const hmac = {
    scheme: "hmac",
    algorithm: "sha256",
    encoding: "base64",
    secret: "s3cret",
  } as const;

  // Made with: printf 'acc_key=KEY&batch=b&filename=Żółć.pdf&folderId=7' | openssl dgst -hmac s3cret
  test.for([
    [hmac, FIELDS, "+fH3gg9zn+U+MeFZtJwsaTf66syT4+bfVvaiYlmwmmk=", "openssl says so"],
    [hmac, FIELDS.toReversed(), "+fH3gg9zn+U+MeFZtJwsaTf66syT4+bfVvaiYlmwmmk=", "order is by name"],
    [hmac, [["acc_key", "KEY"]], "XCCSRK/rE8x/SBkmv+5ENUdScLdZFFbKPuHEmHWD43I=", "one field"],
    [
      { ...hmac, algorithm: "sha512", encoding: "hex" },
      FIELDS,
      "29ec3db4d98c40b38c5349d504c495707a008bd61417924f9bf8cbdb188d8b5e929cd8ba7f0a1ffc9f92811f6d84c8cd4959c12e149edc2a54766dbf9d16d2f3",
      "digest and encoding are settings",
    ],
    [{ scheme: "none" }, FIELDS, "none", "the scheme sends the word"],
  ] as const)("%o signs %o as %s, because %s", async ([settings, fields, expected]) => {
    const signer = await openSigner(settings);
    expect(await signer.sign(fields, "")).toBe(expected);
  });

  test("names are sorted by their bytes, not by UTF-16 units", () => {
    expect(
      signedText([
        ["\u{1F600}", "1"],
        ["\uFF5E", "2"],
        ["b", "3"],
        ["B", "4"],
      ]),
    ).toBe("B=4&b=3&\uFF5E=2&\u{1F600}=1");
  });

  test.for(HMAC2_VECTORS)("hmac2 signs $0, as another program does: $5", async (vector) => {
    const [operation, path, fields, text, sig] = vector;
    expect(PATHS[operation]).toBe(path);
    expect(measuredText(fields, path)).toBe(text);
    const signer = await openSigner({ ...hmac, scheme: "hmac2", secret: VECTOR_SECRET });
    expect(await signer.sign(fields, path)).toBe(sig);
  });

  /** Texts that look like what joins or measures them, too. */
  const tricky = fc.oneof(
    fc.string({ unit: "binary", maxLength: 4 }),
    fc.stringMatching(/^[0-3]?[:=&a]{0,3}[0-3]?:?a?$/),
  );
  const request = fc.record({
    path: tricky,
    fields: fc.array(fc.tuple(tricky, tricky), { maxLength: 4 }),
  });

  test("no two requests have the same text by hmac2, but for the order of their names", () => {
    const inOrder = (fields: readonly RequestField[]) =>
      [...fields].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    fc.assert(
      fc.property(request, request, (a, b) => {
        const isSame =
          a.path === b.path &&
          JSON.stringify(inOrder(a.fields)) === JSON.stringify(inOrder(b.fields));
        expect(measuredText(a.fields, a.path) === measuredText(b.fields, b.path)).toBe(isSame);
      }),
      { numRuns: 2_000 },
    );
    fc.assert(
      fc.property(request, ({ path, fields }) => {
        // Anyone who reads the text finds the request again, so no other one has it.
        expect(partsOf(measuredText(fields, path))).toEqual([path, ...inOrder(fields).flat()]);
      }),
    );
  });

  /** What the text was made of. */
  function partsOf(text: string): string[] {
    const parts: string[] = [];
    for (let left = Buffer.from(text); left.length > 0; ) {
      const begin = left.indexOf(":") + 1;
      const end = begin + Number(left.subarray(0, begin - 1).toString());
      parts.push(left.subarray(begin, end).toString());
      left = left.subarray(end);
    }
    return parts;
  }

  test("two requests have one text by hmac, where a value looks like two fields", () => {
    const one: RequestField[] = [["a", "1&b=2"]];
    const two: RequestField[] = [
      ["a", "1"],
      ["b", "2"],
    ];
    expect(signedText(one)).toBe(signedText(two));
    expect(measuredText(one, "/p")).not.toBe(measuredText(two, "/p"));
  });

  test("any field that changes changes the signature", async () => {
    const signer = await openSigner(hmac);
    const text = fc.string({ unit: "binary" });
    await fc.assert(
      fc.asyncProperty(text, text, async (a, b) => {
        const signatures = [await signer.sign([["n", a]], ""), await signer.sign([["n", b]], "")];
        expect(signatures[0] === signatures[1]).toBe(a === b);
      }),
      { numRuns: 50 },
    );
  });

  test("a module that is not there learns about in one line: key, file and fix", async () => {
    const signer = openSigner({ scheme: "module", module: "/nowhere/sign.mjs" });
    await expect(signer).rejects.toMatchObject({
      message: "archive.signing.module: /nowhere/sign.mjs: there is no such file",
      hint: expect.stringContaining("Name an ES module"),
    });
  });

  test("a module signs, and cannot change what is sent", async () => {
    const module = join(dir, "sign.mjs");
    await writeFile(
      module,
      "export default async (f) => { const s = f.map((x) => x.join(':')).join(); f.length = 0; return s; };",
    );
    const signer = await openSigner({ scheme: "module", module });
    const fields: RequestField[] = [["acc_key", "KEY"]];
    expect(await signer.sign(fields, "")).toBe("acc_key:KEY");
    expect(fields).toEqual([["acc_key", "KEY"]]);
  });

  test.for([
    ["SIGNING_MODULE_UNFIT", "export const sign = 1;", "there is no default export"],
    ["SIGNING_MODULE_UNFIT", "export default 1;", "the default export is no function"],
    ["SIGNING_MODULE_UNFIT", "export default (", "it does not parse"],
    ["SIGNING_MODULE_UNFIT", "throw new Error('no');", "it throws while it is loaded"],
  ] as const)("%s: %s, because %s", async ([code, source, why]) => {
    const module = join(dir, `${why.replaceAll(" ", "-")}.mjs`);
    await writeFile(module, source);
    await expect(openSigner({ scheme: "module", module })).rejects.toMatchObject({ code });
  });

  test.for([
    [
      "SIGNING_MODULE_UNFIT",
      { scheme: "module", module: "/nowhere/sign.mjs" },
      "there is no module",
    ],
    ["SIGNING_ALGORITHM_UNKNOWN", { ...hmac, algorithm: "sha257" }, "there is no such digest"],
    ["SIGNING_SECRET_MISSING", { ...hmac, secret: "" }, "an empty secret signs for anyone"],
  ] as const)("%s for %o, because %s", async ([code, settings]) => {
    const opening = openSigner(settings);
    await expect(opening).rejects.toBeInstanceOf(Fault);
    await expect(opening).rejects.toMatchObject({ code });
  });
});

/** The scheme `hmac2` between client and archive over HTTP, with someone on the way. */
describe("hmac2", () => {
  const CONTENT = Buffer.from("%PDF-1.7 what was scanned");
  const PREFIX = "/offices/north";

  /** Takes the prefix off, as a proxy does, and keeps or changes what passes by. */
  class Between implements AsyncDisposable {
    passed = Buffer.alloc(0);
    change = (bytes: Buffer): Buffer => bytes;
    readonly #server;
    readonly #port: number;

    private constructor(archiveUrl: string) {
      this.#port = Number(new URL(archiveUrl).port);
      this.#server = createServer((near) => {
        const far = connect(this.#port, "127.0.0.1");
        near.on("data", (chunk: Buffer) => {
          const text = chunk.toString("latin1").replace(`POST ${PREFIX}/`, "POST /");
          const bytes = this.change(Buffer.from(text, "latin1"));
          this.passed = Buffer.concat([this.passed, bytes]);
          far.write(bytes);
        });
        far.pipe(near);
        near.on("close", () => far.destroy()).on("error", () => {});
        far.on("close", () => near.destroy()).on("error", () => {});
      });
    }

    static async before(archiveUrl: string): Promise<Between> {
      const between = new Between(archiveUrl);
      between.#server.listen(0, "127.0.0.1");
      await once(between.#server, "listening");
      return between;
    }

    get url(): string {
      return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${PREFIX}`;
    }

    /** Sends what has passed once more; resolves with the archive's answer. */
    async again(): Promise<string> {
      const far = connect(this.#port, "127.0.0.1").setEncoding("utf8");
      far.write(this.passed);
      for await (const text of far) if (/\{.*\}/.test(text)) return text;
      return "";
    }

    async [Symbol.asyncDispose](): Promise<void> {
      this.#server.close();
    }
  }

  const signing = { scheme: "hmac2", algorithm: "sha256", encoding: "base64" } as const;

  async function openOn(url: string, now = () => Date.now()): Promise<HttpArchive> {
    const account = { accountKey: "demo", signing: { ...signing, secret: "demo" } };
    return HttpArchive.open(settingsFor(url, account), { ...systemClock, now });
  }

  const scan = {
    path: "/Scans",
    filename: "scan.pdf",
    metadata: { title: "1&metadataAuthor=2" },
    sha256: () => createHash("sha256").update(CONTENT).digest("hex"),
  };
  const whole = { ...scan, file: { sizeBytes: CONTENT.length, bytes: CONTENT } };

  async function open() {
    const under = await ArchiveUnderTest.open({ scheme: "hmac2", folders: ["/Scans"] });
    const between = await Between.before(under.archive.url);
    const archive = await openOn(between.url);
    return {
      under,
      between,
      archive,
      async [Symbol.asyncDispose]() {
        await archive.close();
        await between[Symbol.asyncDispose]();
        await under[Symbol.asyncDispose]();
      },
    };
  }

  test("uploads and look-ups pass a proxy that takes a prefix off; a repetition does not", async () => {
    await using it = await open();
    const sent = await it.archive.upload(whole, never);
    expect(await it.between.again()).toMatch(/"REQUEST_REPEATED"/);
    const chunks = async function* () {
      yield CONTENT.subarray(0, 5);
      yield CONTENT.subarray(5);
    };
    await it.archive.upload({ ...scan, file: { sizeBytes: CONTENT.length, chunks } }, never);
    expect(it.under.archive.documents()).toHaveLength(2);
    expect(await it.archive.document(sent.id, never)).toMatchObject({
      title: "1&metadataAuthor=2",
    });
    const { documents } = await it.archive.search({ docFilename: "scan" }, never);
    expect(documents).toHaveLength(2);
  });

  test("an upload that came twice is in doubt: the first of them may have been stored", async () => {
    await using it = await open();
    const now = Date.now();
    await using archive = await openOn(it.between.url, () => now);
    await archive.upload(whole, never);
    expect(await errorOf(archive.upload(whole, never))).toMatchObject({
      kind: "inDoubt",
      code: "REQUEST_REPEATED",
      credentials: false,
    });
  });

  test.for([
    ["what was scanned", "what was changed", "the file's bytes"],
    ["scan.pdf", "spam.pdf", "a field"],
  ] as const)("nothing is stored where %s is made %s on the way: %s", async ([was, becomes]) => {
    await using it = await open();
    it.between.change = (bytes) =>
      Buffer.from(bytes.toString("latin1").replaceAll(was, becomes), "latin1");
    expect(await errorOf(it.archive.upload(whole, never))).toMatchObject({ code: "INVALID_SIG" });
    expect(it.under.archive.documents()).toEqual([]);
  });

  test.for([
    [-7 * 60_000, "7 min behind", "an hour hand that lags"],
    [6 * 3_600_000, "360 min ahead of", "a time zone taken for UTC"],
  ] as const)("a clock that is %s ms ahead is named: %s", async ([aheadMs, words]) => {
    await using it = await open();
    await using archive = await openOn(it.between.url, () => Date.now() + aheadMs);
    for (const asked of [archive.folder(undefined, never), archive.upload(whole, never)])
      expect(await errorOf(asked)).toMatchObject({
        kind: "refused",
        code: "INVALID_SIG",
        credentials: true,
        message: expect.stringContaining(`this host's clock is ${words} the archive's`),
        hint: expect.stringMatching(/^Set this host's clock/),
      });
  });

  test.for([
    ["hmac2", "wrong", 0, "the clocks agree"],
    ["hmac", "demo", 10 * 60_000, "there is no time in what hmac signs"],
  ] as const)(
    "%s with the secret %s and a clock %s ms ahead is not put down to it, as %s",
    async (row) => {
      const [scheme, secret, aheadMs] = row;
      await using it = await open();
      const account = { accountKey: "demo", signing: { ...signing, scheme, secret } };
      const clock = { ...systemClock, now: () => Date.now() + aheadMs };
      await using archive = await HttpArchive.open(settingsFor(it.between.url, account), clock);
      const { message, hint } = await errorOf(archive.folder(undefined, never));
      expect(message).not.toMatch(/clock/);
      expect(hint).toMatch(/archive\.signing/);
    },
  );
});
