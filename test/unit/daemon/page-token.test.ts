/** A page beyond this host has a token, given or made. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { withPageToken } from "../../../src/daemon/page-token.ts";
import { aConfig } from "../../fixtures/a-config.ts";

/** Starts over with a page at `host`, as often as asked; what it says, and the tokens. */
async function starts(web: { host: string; token?: string } | undefined, times: number) {
  const folder = mkdtempSync(join(tmpdir(), "scanferry-token-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "var/web.token");
  const said: string[] = [];
  const start = async () => {
    const page = web && { ...web, port: 8470, names: [] };
    const config = { ...aConfig(), journal: join(folder, "var/journal.db"), web: page };
    return (await withPageToken(config, (line) => said.push(line))).web?.token;
  };
  const tokens = [];
  for (let time = 0; time < times; time++) tokens.push(await start());
  return { folder, file, said, start, tokens };
}

test("a token is made at the first start, shown once, and kept for its owner alone", async () => {
  const { file, said, tokens } = await starts({ host: "0.0.0.0" }, 3);
  const [token = ""] = tokens;
  expect(token).toMatch(/^[\w-]{32}$/);
  expect(tokens).toEqual([token, token, token]);
  expect(said).toEqual([expect.stringContaining(`http://localhost:8470/?token=${token}`)]);
  expect(said[0]).toContain(file);
  expect(readFileSync(file, "utf8").trim()).toBe(token);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test.for([
  [{ host: "127.0.0.1" }, undefined, "anyone who is on this host may look"],
  [{ host: "0.0.0.0", token: "0123456789abcdef" }, "0123456789abcdef", "it was given"],
  [undefined, undefined, "there is no page"],
] as const)("a page %o has the token %s, because %s", async ([web, token]) => {
  const { file, said, tokens } = await starts(web, 1);
  expect(tokens).toEqual([token]);
  expect(said).toEqual([]);
  expect(() => statSync(file)).toThrow("ENOENT");
});

test.for([
  [(file: string) => writeFileSync(file, "short\n"), "holds no token"],
  [(file: string) => chmodSync(file, 0o644), "can be read by everyone"],
] as const)(
  "# %#: a file that will not do closes the page, and is left: %2$s",
  async ([spoil, why]) => {
    const { file, said, start } = await starts({ host: "0.0.0.0" }, 1);
    spoil(file);
    const text = readFileSync(file, "utf8");
    expect(await start()).toBeUndefined();
    expect(said.at(-1)).toContain(why);
    expect(readFileSync(file, "utf8")).toBe(text);
  },
);

test("where it cannot be kept the page is closed, and the daemon starts", async () => {
  const { folder, said, start } = await starts({ host: "0.0.0.0" }, 0);
  writeFileSync(join(folder, "var"), "");
  expect(await start()).toBeUndefined();
  expect(said).toEqual([expect.stringContaining("ENOTDIR")]);
});
