import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Field, openSigner, signedText } from "../../../src/archive/signing.ts";
import { Fault } from "../../../src/std/fault.ts";

let dir = "";
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "signing-"));
});
afterAll(() => rm(dir, { recursive: true }));

const FIELDS: Field[] = [
  ["folderId", "7"],
  ["filename", "Żółć.pdf"],
  ["batch", "b"],
  ["acc_key", "KEY"],
];
const hmac = { scheme: "hmac", algorithm: "sha256", encoding: "base64", secret: "s3cret" } as const;

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
  expect(await signer.sign(fields)).toBe(expected);
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

test("any field that changes changes the signature", async () => {
  const signer = await openSigner(hmac);
  const text = fc.string({ unit: "binary" });
  await fc.assert(
    fc.asyncProperty(text, text, async (a, b) => {
      const signatures = [await signer.sign([["n", a]]), await signer.sign([["n", b]])];
      expect(signatures[0] === signatures[1]).toBe(a === b);
    }),
    { numRuns: 50 },
  );
});

test("a module that is not there is told of in one line: key, file and mend", async () => {
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
  const fields: Field[] = [["acc_key", "KEY"]];
  expect(await signer.sign(fields)).toBe("acc_key:KEY");
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
  ["SIGNING_MODULE_UNFIT", { scheme: "module", module: "/nowhere/sign.mjs" }, "there is no module"],
  ["SIGNING_ALGORITHM_UNKNOWN", { ...hmac, algorithm: "sha257" }, "there is no such digest"],
  ["SIGNING_SECRET_MISSING", { ...hmac, secret: "" }, "an empty secret signs for anyone"],
] as const)("%s for %o, because %s", async ([code, settings]) => {
  const opening = openSigner(settings);
  await expect(opening).rejects.toBeInstanceOf(Fault);
  await expect(opening).rejects.toMatchObject({ code });
});
