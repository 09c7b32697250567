import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/std/clock.ts";
import { ArchiveUnderTest } from "../../contract/conformance/archive-under-test.ts";

type Told = Record<string, unknown>;

/** Someone who wants to be told; answers with the statuses in turn, then with 200. */
async function aReceiver(...statuses: number[]) {
  const told: Told[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      told.push(JSON.parse(body) as Told);
      response.statusCode = statuses.shift() ?? 200;
      response.setHeader("location", "/elsewhere").end();
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { told, notifyUrl: `http://127.0.0.1:${port}/told`, [Symbol.asyncDispose]: close };
}

/** The real clock, whose rests end at once: backoffs take no time. */
const hasty = {
  ...systemClock,
  alarm: (ms: number, notify: () => void) => systemClock.alarm(Math.min(ms, 5), notify),
};

describe("an expiry that passes", () => {
  test("is logged and told once, of documents and folders, at its time", async () => {
    await using receiver = await aReceiver();
    const log: Told[] = [];
    const { notifyUrl } = receiver;
    await using under = await ArchiveUnderTest.open({ notifyUrl, log: (event) => log.push(event) });
    under.archive.createFolder("/Leases", { expireDate: 5 });
    await expect.poll(() => receiver.told.length).toBe(1);
    const at = systemClock.now() + 300;
    const { id, folderId } = await under.store("a.txt", "a", { expireDate: String(at) });
    await under.store("far.txt", "a", { expireDate: String(at + 86_400_000) });
    await under.store("never.txt", "a");
    await expect.poll(() => receiver.told.length).toBe(2);
    const folder = { event: "folderExpired", notice: 1, account: "demo", folderName: "Leases" };
    const document = { event: "documentExpired", notice: 2, documentId: id, filename: "a.txt" };
    expect(receiver.told).toMatchObject([
      { ...folder, expireDate: 5 },
      { ...document, folderId, expireDate: at, noticedAt: expect.any(Number) },
    ]);
    expect(log).toEqual(receiver.told);
    expect(Number(receiver.told[1]?.["noticedAt"])).toBeGreaterThanOrEqual(at);
  });

  test("that is set again is told again", async () => {
    await using receiver = await aReceiver();
    await using under = await ArchiveUnderTest.open({ notifyUrl: receiver.notifyUrl });
    under.archive.createFolder("/A", { expireDate: 5 });
    await expect.poll(() => receiver.told.length).toBe(1);
    under.archive.createFolder("/A", { description: "the same date" });
    under.archive.createFolder("/A", { expireDate: 6 });
    await expect.poll(() => receiver.told.map((body) => body["expireDate"])).toEqual([5, 6]);
  });

  test.for([
    [[500, 503, 404], "errors"],
    [[302], "a redirect is not followed, for nobody said that it may be"],
  ] as const)("is told again after %j: %s", async ([statuses]) => {
    await using receiver = await aReceiver(...statuses);
    const { notifyUrl } = receiver;
    await using under = await ArchiveUnderTest.open({ notifyUrl, clock: fast() });
    await under.store("a.txt", "a", { expireDate: "5" });
    await expect.poll(() => receiver.told.length).toBe(statuses.length + 1);
    expect(new Set(receiver.told.map((body) => body["notice"])).size).toBe(1);
  });

  test("waits for no clock that was set back since it could not be told", async () => {
    await using under = await ArchiveUnderTest.open({
      notifyUrl: "http://127.0.0.1:9/",
      clock: ahead(),
    });
    await under.store("a.txt", "a", { expireDate: "5" });
    await expect.poll(() => counts(under)).toEqual([1, 1]);
    await under.archive.close();
    await using receiver = await aReceiver();
    const { notifyUrl } = receiver;
    await using _ = await ArchiveUnderTest.open({ dataDir: under.dataDir, notifyUrl });
    await expect.poll(() => receiver.told.length).toBe(1);
  });

  test("outlives restarts until it is delivered, and is then not told again", async () => {
    await using under = await ArchiveUnderTest.open({ notifyUrl: "http://127.0.0.1:9/" });
    await under.store("a.txt", "a", { expireDate: "5" });
    await expect.poll(() => counts(under)).toEqual([1, 1]);
    await under.archive.close();
    // A run without an address delivers nothing, and forgets nothing.
    const mute = await ArchiveUnderTest.open({ dataDir: under.dataDir });
    expect(counts(mute)).toEqual([1, 1]);
    await mute.archive.close();
    await using receiver = await aReceiver();
    const { notifyUrl } = receiver;
    const again = await ArchiveUnderTest.open({
      dataDir: under.dataDir,
      notifyUrl,
      clock: ahead(),
    });
    await expect.poll(() => counts(again)).toEqual([1, 0]);
    await again.archive.close();
    await using last = await ArchiveUnderTest.open({ dataDir: under.dataDir, notifyUrl });
    await last.archive.idle();
    expect(receiver.told).toHaveLength(1);
  });

  test("before anybody wanted to be told is not told later", async () => {
    await using under = await ArchiveUnderTest.open();
    await under.store("a.txt", "a", { expireDate: "5" });
    await expect.poll(() => counts(under)).toEqual([1, 0]);
  });

  test("does not keep the archive from closing when the receiver never answers", async () => {
    const server = createServer(() => {});
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const notifyUrl = `http://127.0.0.1:${port}/`;
    await using under = await ArchiveUnderTest.open({ notifyUrl });
    const asked = once(server, "request");
    await under.store("a.txt", "a", { expireDate: "5" });
    await asked;
    await under.archive.close();
    server.closeAllConnections();
    server.close();
  });
});

/** Notices in all, and those still to be delivered. */
function counts(under: ArchiveUnderTest): number[] {
  const { noticed, waiting } = under.archive.notices();
  return [noticed, waiting];
}

/** A clock on which a backoff has passed by the time that the rest for it ends. */
function fast() {
  let skipped = 0;
  const alarm = (ms: number, notify: () => void) =>
    hasty.alarm(ms, () => {
      if (ms > 5 && ms <= 60_000) skipped += ms;
      notify();
    });
  return { ...systemClock, now: () => systemClock.now() + skipped, alarm };
}

function ahead() {
  return { ...systemClock, now: () => systemClock.now() + 86_400_000 };
}
