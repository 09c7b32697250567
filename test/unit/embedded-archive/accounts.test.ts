import { afterAll, beforeAll, expect, test, describe } from "vitest";
import { type Operation, PATHS } from "../../../src/wire/shapes.ts";
import { ArchiveUnderTest, outcomeOf } from "../../contract/conformance/archive-under-test.ts";
import { asiceOf } from "../../fixtures/documents.ts";
import { createHash, createHmac } from "node:crypto";
import { authenticate } from "../../../src/embedded-archive/authentication.ts";
import { type EmbeddedArchiveOptions } from "../../../src/embedded-archive/embedded-archive.ts";
import { systemClock } from "../../../src/std/clock.ts";
import { HMAC2_VECTORS, VECTOR_SECRET, VECTOR_TIME } from "../../fixtures/hmac2-vectors.ts";
import { dated, type SentField, signed, uploadForm } from "../../fixtures/sign.ts";

/** Several companies in one archive: what one has does not exist for the other. */
describe("accounts", () => {
  const ONE = { key: "one", secret: "first" };
  const TWO = { key: "two", secret: "second" };
  let under: ArchiveUnderTest;
  let theirs: { folder: string; root: string; document: string; digidoc: string; inner: string };

  beforeAll(async () => {
    under = await ArchiveUnderTest.open({ accounts: [ONE, TWO], quotaPages: 4 });
    const folder = under.archive.createFolder("/Theirs/Deep", {}, "one");
    const sent = { filename: "theirs.txt", folderId: String(folder), expireDate: "5" };
    const { body } = await under.upload(sent, "kumquat", ONE);
    const container = asiceOf({ "inner.txt": "persimmon" });
    const digidoc = await under.upload({ filename: "theirs.asice" }, container, ONE);
    await under.archive.idle();
    const id = (reply: Record<string, unknown>) => String((reply["document"] as { id: number }).id);
    const list = await under.ask("digidoc", { digidocId: id(digidoc.body) }, ONE);
    const root = (await under.ask("folder", {}, ONE)).body["folder"] as { id: number };
    theirs = {
      folder: String(folder),
      root: String(root.id),
      document: id(body),
      digidoc: id(digidoc.body),
      inner: String((list.body["documents"] as { id: number }[])[0]?.id),
    };
  });
  afterAll(() => under[Symbol.asyncDispose]());

  test.for([
    ["document", "id", "document", "DOC_NOT_EXIST"],
    ["document", "id", "digidoc", "DOC_NOT_EXIST"],
    ["document", "id", "inner", "DOC_NOT_EXIST"],
    ["digidoc", "digidocId", "digidoc", "DOC_NOT_EXIST"],
    ["documents", "folderId", "folder", "FOLDER_NOT_EXISTS"],
    ["documents", "folderId", "root", "FOLDER_NOT_EXISTS"],
    ["folders", "folderId", "folder", "FOLDER_NOT_EXISTS"],
    ["folders", "folderId", "root", "FOLDER_NOT_EXISTS"],
    ["folder", "id", "folder", "FOLDER_NOT_EXISTS"],
    ["folder", "id", "root", "FOLDER_NOT_EXISTS"],
    ["upload", "folderId", "folder", "FOLDER_NOT_EXISTS"],
    ["upload", "folderId", "root", "FOLDER_NOT_EXISTS"],
  ] as [Operation, string, keyof typeof theirs, string][])(
    "%s with %s of the other account's %s gives %s",
    async ([operation, name, what, expected]) => {
      const fields = { [name]: theirs[what] };
      const ask = (account: typeof ONE) =>
        operation === "upload"
          ? under.upload({ filename: "x:", ...fields }, "a", account)
          : under.ask(operation, fields, account);
      if (operation === "upload") {
        const reply = await under.upload({ filename: "x.txt", ...fields }, "a", TWO);
        expect(outcomeOf(reply)).toBe(expected);
        expect(outcomeOf(await ask(ONE))).toBe("INVALID_FILENAME");
      } else {
        expect(outcomeOf(await ask(TWO))).toBe(expected);
        expect(outcomeOf(await ask(ONE))).toBe("OK");
      }
    },
  );

  test.for([
    [{}, "everything"],
    [{ query: "kumquat" }, "words of their contents"],
    [{ query: "persimmon" }, "words inside their digidoc"],
    [{ query: "theirs" }, "their names"],
    [{ docFilename: "theirs" }, "their file names"],
    [{ docHasExpireDate: "true" }, "their dates"],
    [{ folderName: "deep" }, "their folders"],
    [{ query: "it" }, "too short for an index"],
  ] as [Record<string, string>, string][])(
    "search with %j finds nothing of theirs: %s",
    async ([fields]) => {
      const { body } = await under.ask("search", fields, TWO);
      const roots = Object.keys(fields).length === 0 ? [{ root: true }] : [];
      expect(body).toMatchObject({ documents: [], folders: roots });
      const own = await under.ask("search", fields, ONE);
      const found = [own.body["documents"], own.body["folders"]].flat();
      expect(found.length > 0 || fields["query"] === "it").toBe(true);
    },
  );

  test("paths start at the own root, keys and secrets do not mix, and pages are counted apart", async () => {
    const path = { filename: "a.txt", path: "/Theirs/Deep" };
    expect(outcomeOf(await under.upload(path, "a", TWO))).toBe("FOLDER_NOT_EXISTS");
    expect(outcomeOf(await under.ask("folder", {}, { key: "one", secret: "second" }))).toBe(
      "INVALID_SIG",
    );
    const upload = () => under.upload({ filename: "a.txt" }, "a", TWO);
    for (let page = 0; page < 4; page++) expect(outcomeOf(await upload())).toBe("OK");
    expect(outcomeOf(await upload())).toBe("QUOTA_LIMIT");
    expect([under.archive.pagesUsed("one"), under.archive.pagesUsed("two")]).toEqual([2, 4]);
    expect(outcomeOf(await under.upload({ filename: "a.txt" }, "a", ONE))).toBe("OK");
  });

  test("the same bytes of both are stored once, and belong to each", async () => {
    for (const account of [ONE, TWO]) {
      under.archive.setQuota(undefined, account.key);
      await under.upload({ filename: "same.txt" }, "the same", account);
    }
    const same = (key: string) =>
      under.archive.documents(key).filter(({ filename }) => filename === "same.txt");
    expect(same("one")).toHaveLength(1);
    expect(same("two")).toHaveLength(1);
    expect(same("one")[0]?.sha256).toBe(same("two")[0]?.sha256);
  });
});

/** What a signature by `hmac2` keeps anybody from: sending again, something else, elsewhere, or later. */
describe("signatures", () => {
  const ACCOUNTS = new Map([["KEY", { key: "KEY", secret: VECTOR_SECRET }]]);
  const ANY = { requireSignature: true, scheme: undefined };
  const NOW = 1_764_000_000_000;
  const CONTENT = "a letter";
  const DIGEST = createHash("sha256").update(CONTENT).digest("hex");

  test.for(HMAC2_VECTORS)("a request that another program signed is accepted: $0, $5", (vector) => {
    const [operation, , fields, , sig] = vector;
    const sent = [...fields, ["sig", sig] as const];
    const accept = (all: typeof sent) =>
      authenticate({ operation, fields: all, now: VECTOR_TIME }, ACCOUNTS, ANY);
    expect(accept(sent)).toMatchObject({ account: { key: "KEY" }, dated: { signature: sig } });
    for (const at of fields.keys()) {
      const changed = sent.with(at, [fields[at]?.[0] ?? "", `${fields[at]?.[1]}x`]);
      expect(() => accept(changed)).toThrow(/INVALID_(SIG|ACC_KEY)/);
    }
  });

  async function open(more: Partial<EmbeddedArchiveOptions> = {}) {
    const at = { now: NOW };
    const clock = { ...systemClock, now: () => at.now };
    const under = await ArchiveUnderTest.open({ clock, ...more });
    return { under, at, [Symbol.asyncDispose]: () => under[Symbol.asyncDispose]() };
  }

  const upload = (more: Record<string, string> = {}, time = NOW, path: string = PATHS.upload) =>
    dated(path, { filename: "scan.txt", sig_file: DIGEST, ...more }, time);
  const form = (fields: Record<string, string>, content: string | undefined = CONTENT) =>
    uploadForm(Object.entries(fields), Buffer.from(content));

  test.for([
    [upload(), CONTENT, "OK", "all is as it was signed"],
    [upload({}, NOW - 300_000), CONTENT, "OK", "a clock may be five minutes behind"],
    [upload({}, NOW + 300_000), CONTENT, "OK", "or ahead"],
    [upload({}, NOW - 300_001), CONTENT, "INVALID_SIG", "that was too long ago"],
    [upload({}, NOW + 300_001), CONTENT, "INVALID_SIG", "that is yet to come"],
    [upload(), `${CONTENT}.`, "INVALID_SIG", "the file is longer"],
    [upload(), "a letteR", "INVALID_SIG", "the file is another one"],
    [upload({}, NOW, PATHS.document), CONTENT, "INVALID_SIG", "another operation was signed"],
    [
      dated(PATHS.upload, { filename: "scan.txt" }, NOW),
      CONTENT,
      "INVALID_SIG",
      "no digest of the file was signed",
    ],
    [{ ...upload(), filename: "other.txt" }, CONTENT, "INVALID_SIG", "a field was changed"],
    [{ ...upload(), batch: "b" }, CONTENT, "INVALID_SIG", "a field was added"],
    [{ ...upload(), sig_time: "soon" }, CONTENT, "INVALID_SIG", "its time is none"],
  ] as const)("an upload by hmac2 gives $2: $3", async ([fields, content, expected]) => {
    await using it = await open();
    expect(outcomeOf(await it.under.post("upload", form(fields, content)))).toBe(expected);
    expect(it.under.archive.documents()).toHaveLength(expected === "OK" ? 1 : 0);
  });

  test("an upload is accepted once, also of two at once, of a refused one, and over a restart", async () => {
    await using it = await open();
    const { under, at } = it;
    const outcome = async (fields: Record<string, string>, of = under) =>
      outcomeOf(await of.post("upload", form(fields)));
    const both = await Promise.all([outcome(upload()), outcome(upload())]);
    expect(new Set(both)).toEqual(new Set(["OK", "REQUEST_REPEATED"]));
    // A clock that is ahead signs what is good for longer.
    const ahead = upload({}, NOW + 300_000);
    const early = upload({ path: "/Later" });
    expect(await outcome(ahead)).toBe("OK");
    expect(await outcome(early)).toBe("FOLDER_NOT_EXISTS");
    under.archive.createFolder("/Later");
    expect(await outcome(early)).toBe("REQUEST_REPEATED");
    at.now = NOW + 600_000;
    expect(await outcome(ahead)).toBe("REQUEST_REPEATED");
    await under.archive.close();
    const { dataDir } = under;
    await using again = await open({ dataDir });
    again.at.now = NOW + 600_000;
    expect(await outcome(ahead, again.under)).toBe("REQUEST_REPEATED");
    expect(again.under.archive.documents()).toHaveLength(2);
  });

  test("what hmac2 signed is nothing that hmac signed, whatever a value looks like", async () => {
    await using it = await open();
    // Read as `hmac` does, the text of this request is three fields: a long name, the account's key, and another query.
    const query = "x=1&acc_key=demo&query=other";
    const { sig = "" } = dated(PATHS.search, { query }, NOW);
    const text = `21:/api/v0_4/search.html7:acc_key4:demo5:query28:${query}8:sig_time13:${NOW}`;
    const fields = text.split("&").map((field): SentField => {
      const [name = "", value = ""] = field.split("=");
      return [name, value];
    });
    const asHmac = fields.map(([name, value]) => `${name}=${value}`).join("&");
    expect(createHmac("sha256", "demo").update(asHmac).digest("base64")).toBe(sig);
    const sent = new URLSearchParams([...fields, ["sig", sig]]);
    expect(outcomeOf(await it.under.post("search", sent))).toBe("INVALID_SIG");
  });

  test("a look-up may come twice: it changes nothing", async () => {
    await using it = await open();
    const fields = dated(PATHS.folder, {}, NOW);
    for (const _ of [1, 2]) {
      const reply = await it.under.post("folder", new URLSearchParams(fields));
      expect(outcomeOf(reply)).toBe("OK");
    }
  });

  test.for([
    [undefined, "OK", "OK"],
    ["hmac", "OK", "INVALID_SIG"],
    ["hmac2", "INVALID_SIG", "OK"],
  ] as const)("an archive for %s answers hmac with %s and hmac2 with %s", async (row) => {
    const [scheme, byHmac, byHmac2] = row;
    await using it = await open({ scheme });
    const ask = (fields: SentField[] | Record<string, string>) =>
      it.under.post("folder", new URLSearchParams(fields)).then(outcomeOf);
    expect([await ask(signed({})), await ask(dated(PATHS.folder, {}, NOW))]).toEqual([
      byHmac,
      byHmac2,
    ]);
  });
});
