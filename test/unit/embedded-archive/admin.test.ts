import { request } from "node:http";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ArchiveUnderTest, outcomeOf } from "../../contract/conformance/archive-under-test.ts";

const admin = { host: "127.0.0.1", port: 0 };
const OTHER = { key: "other", secret: "s" };
const accounts = [{ key: "demo", secret: "demo" }, OTHER];
let under: ArchiveUnderTest;

beforeAll(async () => {
  under = await ArchiveUnderTest.open({ admin, accounts });
});
afterAll(() => under[Symbol.asyncDispose]());

async function ask(path: string, body?: unknown, headers: Record<string, string> = {}) {
  const json = { "content-type": "application/json", ...headers };
  const response = await fetch(
    `${under.archive.adminUrl}${path}`,
    body === undefined ? {} : { method: "POST", headers: json, body: JSON.stringify(body) },
  );
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe("administration", () => {
  test("makes folders of an account", async () => {
    const made = await ask("/folders", { account: "other", path: "/A/B" });
    expect(made).toEqual({
      status: 200,
      body: { id: under.archive.createFolder("/A/B", {}, "other") },
    });
    const { body } = await under.ask("search", { folderName: "B" }, OTHER);
    expect(body["folders"]).toMatchObject([{ name: "B" }]);
  });

  test("sets what a folder says of its own, and leaves what is not given", async () => {
    const id = String(under.archive.createFolder("/Described"));
    const shown = async () => (await under.ask("folder", { id })).body["folder"];
    const says = { index: "4-2", description: "of 2026", keywords: "scans", expireDate: 4e12 };
    await ask("/folders", { path: "/Described", ...says });
    expect(await shown()).toMatchObject(says);
    await ask("/folders", { path: "/Described", index: "4-3", expireDate: null });
    expect(await shown()).toMatchObject({ index: "4-3", keywords: "scans" });
    expect(await shown()).not.toHaveProperty("expireDate");
  });

  test("sets an allowance, which outlives a restart, and lifts it", async () => {
    await using own = await ArchiveUnderTest.open({ admin, quotaPages: 100 });
    const quota = async (pages: number | null) => {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({ pages });
      await fetch(`${own.archive.adminUrl}/quota`, { method: "POST", headers, body });
    };
    await quota(0);
    expect(outcomeOf(await own.upload({ filename: "a.txt" }))).toBe("QUOTA_LIMIT");
    await own.archive.close();
    await using again = await ArchiveUnderTest.open({ dataDir: own.dataDir, admin, quotaPages: 7 });
    expect(outcomeOf(await again.upload({ filename: "a.txt" }))).toBe("QUOTA_LIMIT");
    again.archive.setQuota(undefined);
    expect(outcomeOf(await again.upload({ filename: "a.txt" }))).toBe("OK");
  });

  test("switches the plugin", async () => {
    const upload = () => under.upload({ filename: "a.txt", expireDate: "2090-01-01" });
    expect((await ask("/plugin", { reminder: false })).body).toEqual({ reminder: false });
    expect(outcomeOf(await upload())).toBe("PLUGIN_REMINDER_NOT_INSTALLED");
    await ask("/plugin", { reminder: true });
    expect(outcomeOf(await upload())).toBe("OK");
  });

  test("plans faults and takes them back", async () => {
    const plan = [{ do: "status", status: 503, stored: false, on: "folder", times: "always" }];
    expect((await ask("/faults", { plan })).body).toEqual({ rules: 1 });
    await expect(under.ask("folder")).rejects.toThrow(/JSON/);
    await ask("/faults", { plan: null });
    expect(outcomeOf(await under.ask("folder"))).toBe("OK");
  });

  test("lists documents piece by piece, and exports them unchanged and uncounted", async () => {
    const ids: number[] = [];
    for (const name of ["x", "y", "z"])
      ids.push(
        ((await under.upload({ filename: name }, name, OTHER)).body["document"] as { id: number })
          .id,
      );
    const first = await ask("/documents?account=other&limit=2");
    expect(first.body).toMatchObject({ documents: [{ id: ids[0] }, { id: ids[1] }], next: ids[1] });
    const rest = await ask(`/documents?account=other&limit=2&after=${ids[1]}`);
    expect(rest.body).toMatchObject({ documents: [{ id: ids[2], size: 1 }], next: null });
    const content = await fetch(`${under.archive.adminUrl}/documents/${ids[2]}/content`);
    expect([content.status, await content.text()]).toEqual([200, "z"]);
    const info = await under.ask("document", { id: String(ids[2]) }, OTHER);
    expect(info.body["document"]).toMatchObject({ downloadedTally: 0 });
  });

  test("counts", async () => {
    await under.archive.idle();
    const { body } = await ask("/stats");
    expect(body).toMatchObject({
      accounts: [
        { key: "demo", uploaded: 0, converted: 1, pagesUsed: 1, pages: null },
        { key: "other", uploaded: 0, converted: 3, pagesUsed: 3 },
      ],
      notices: { noticed: 0, waiting: 0 },
      reminder: true,
    });
    expect(JSON.stringify(body)).not.toContain("secret");
  });

  test.for([
    ["/folders", { account: "nobody", path: "/A" }, 404, "no such account"],
    ["/folders", { path: "A" }, 400, "no path"],
    ["/folders", { path: "/A", more: 1 }, 400, "an unknown part"],
    ["/folders", { path: "/A", index: 1 }, 400, "no text"],
    ["/folders", { path: "/A", expireDate: "tomorrow" }, 400, "no time"],
    ["/folders", [], 400, "a list"],
    ["/quota", { pages: -1 }, 400, "no number of pages"],
    ["/quota", { account: {}, pages: 1 }, 404, "no account's key"],
    ["/quota", {}, 400, "null is written out"],
    ["/plugin", { reminder: "yes" }, 400, "no boolean"],
    ["/faults", { plan: [{ do: "explode" }] }, 400, "no such fault"],
    ["/faults", {}, 400, "null is written out"],
    ["/nothing", {}, 404, "no such path"],
  ] as const)("%s with %j gives %i: %s", async ([path, body, status]) => {
    const reply = await ask(path, body);
    expect(reply).toEqual({ status, body: { error: expect.any(String) } });
  });

  test.for([
    ["/documents?limit=x", 400],
    ["/documents?after=-1", 400],
    ["/documents?account=nobody", 404],
    ["/documents/999/content", 404],
    ["/documents/x/content", 400],
    ["/folders", 404],
  ] as const)("GET %s gives %i", async ([path, status]) => {
    expect((await ask(path)).status).toBe(status);
  });

  test("takes JSON alone, from the machine itself, under its own name", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
      expect((await ask("/plugin", { reminder: true }, { "content-type": type })).status).toBe(415);
    const asking = request(`${under.archive.adminUrl}/stats`, { headers: { host: "a.example" } });
    const [response] = await once(asking.end(), "response");
    response.resume();
    expect(response.statusCode).toBe(404);
  });

  test.for(["0.0.0.0", "::", "192.0.2.7", "example.com"])("does not listen on %s", async (host) => {
    const open = ArchiveUnderTest.open({ admin: { host, port: 0 } });
    await expect(open).rejects.toMatchObject({ code: "EMBEDDED_ARCHIVE_OPTIONS" });
  });

  test("a taken port leaves nothing open", async () => {
    const port = Number(new URL(under.archive.url).port);
    await using own = await ArchiveUnderTest.open();
    await own.archive.close();
    const { dataDir } = own;
    const open = ArchiveUnderTest.open({ dataDir, admin: { ...admin, port } });
    await expect(open).rejects.toMatchObject({ code: "EMBEDDED_ARCHIVE_LISTEN" });
    await using again = await ArchiveUnderTest.open({ dataDir });
    expect(again.archive.adminUrl).toBeUndefined();
  });
});
