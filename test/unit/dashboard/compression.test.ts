/** What a first look costs the line. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { ASSET_FILES } from "../../../src/dashboard/assets.ts";
import { openDashboard } from "./open-dashboard.ts";
import { documentOf } from "./scripted-journal.ts";

/** Bytes as they come over the line; `fetch` would unpack them. */
async function asked(url: string, encoding: string) {
  const outgoing = request(url, { headers: { "accept-encoding": encoding }, agent: false }).end();
  const [reply] = (await once(outgoing, "response")) as [IncomingMessage];
  return { headers: reply.headers, body: Buffer.concat(await Array.fromAsync<Buffer>(reply)) };
}

const rows = Array.from({ length: 50 }, (_, id) => documentOf({ id: id + 1 }));

test.for([
  // accept-encoding, comes as, because
  ["gzip, deflate, br", "gzip", "a browser"],
  ["gzip;q=0.5", "gzip", "it is taken"],
  ["gzip;q=0", undefined, "it is refused"],
  ["br", undefined, "another one"],
  ["", undefined, "a program that takes none"],
] as const)("for %j JSON and files come as %s: %s", async ([encoding, as]) => {
  await using opened = await openDashboard({ rows });
  const plain = await asked(`${opened.dashboard.url}/dashboard.js`, "");
  for (const path of ["/api/documents", "/dashboard.js", "/dashboard.js"]) {
    const { headers, body } = await asked(opened.dashboard.url + path, encoding);
    expect([headers["content-encoding"], headers["vary"]]).toEqual([as, "accept-encoding"]);
    const text = as ? gunzipSync(body) : body;
    if (path === "/dashboard.js") expect(text).toEqual(plain.body);
    else expect(JSON.parse(text.toString()).documents).toHaveLength(50);
  }
});

test("what is short comes as it is", async () => {
  await using opened = await openDashboard();
  const { headers } = await asked(`${opened.dashboard.url}/healthz`, "gzip");
  expect(headers["content-encoding"]).toBeUndefined();
});

test("the first load takes 60 kB at most, with every file of every language", async () => {
  await using opened = await openDashboard({ rows });
  const files = ASSET_FILES.map((file) =>
    file === "index.html" ? "" : file.replace(/\.html$/, ""),
  );
  const paths = [...files, "api/status", "api/activity", "api/documents?limit=25"];
  const bodies = await Promise.all(
    paths.map(async (path) => (await asked(`${opened.dashboard.url}/${path}`, "gzip")).body),
  );
  const bytes = bodies.reduce((sum, { length }) => sum + length, 0);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(60_000);
});
