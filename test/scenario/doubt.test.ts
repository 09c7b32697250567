/** Replies that are lost, late, false or refused: never twice, never lost. */
import { renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { FaultAction, FaultRule } from "../../src/embedded-archive/embedded-archive.ts";
import { type Clock, systemClock } from "../../src/std/clock.ts";
import { aDaemon } from "../fixtures/a-daemon.ts";
import { audit, rowsOf } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { until } from "../fixtures/until.ts";
import { aWorld, DOUBT_MS, type World } from "../fixtures/world.ts";

const upload = { on: "upload" } as const;

/** What was never stored cannot come late: no machine is too slow for a window that is waited out. */
const BRIEF_MS = 1_000;

/** While others are looked for that wait for their conversion, but not for the length of the usual window. */
const BRISK_MS = 3_000;

const doubtOf = (world: World, windowMs: number) => ({
  upload: { ...world.config().upload, doubt: { windowMs, toleranceMs: 60_000 } },
});

/** What becomes of one document's first sending. */
const UPLOADS: Readonly<Record<string, FaultAction & { readonly times?: number }>> = {
  "stored late": { do: "storeLate", ms: 1_200 },
  "500, stored": { do: "status", status: 500, stored: true },
  "502, not stored": { do: "status", status: 502, stored: false, html: true },
  "503, stored": { do: "status", status: 503, stored: true },
  "408, stored": { do: "status", status: 408, stored: true },
  "409, stored": { do: "status", status: 409, stored: true },
  "499, stored, a proxy's word": { do: "status", status: 499, stored: true },
  "a code of nobody's and 200, stored": {
    do: "error",
    code: "INDEX_LOCKED",
    status: 200,
    stored: true,
  },
  "a code of nobody's and 400, stored": {
    do: "error",
    code: "INDEX_LOCKED",
    status: 400,
    stored: true,
  },
  "a code of nobody's and 500, stored": {
    do: "error",
    code: "INDEX_LOCKED",
    status: 500,
    stored: true,
  },
  "a code of nobody's, not stored": { do: "error", code: "INDEX_LOCKED", stored: false },
  "truncated JSON": { do: "truncate" },
  "an OK that is garbage": { do: "garbage" },
  "a compression bomb": { do: "bomb", bytes: 64 * 1024 * 1024 },
  "another document's reply": { do: "wrongDocument" },
  "429, a wait": { do: "status", status: 429, stored: false, retryAfter: "1" },
  "lost twice in a row": { do: "dropBefore", times: 2 },
};

const LISTS: [string, FaultRule][] = [
  ...(["absent", "null", "empty"] as const).map((lists): (typeof LISTS)[number] => [
    `${lists} in an OK`,
    { on: "documents", do: "hollow", lists, times: 9 },
  ]),
  ["stale", { on: "documents", do: "stale", youngerThanMs: 1_500, times: 3 }],
  [
    "nowhere: the request fails",
    { on: "documents", do: "status", status: 500, stored: false, times: 3 },
  ],
];

/** Each is converted, after its doubt, once. */
async function archivedOnce(world: World, documents: number, windowMs: number): Promise<void> {
  {
    await using live = await aDaemon(world.config(doubtOf(world, windowMs)));
    // One that the archive has yet to convert when its doubt is over is held for half a minute.
    const counts = async () => (await live.daemon.status()).documents;
    await until("all converted", async () => (await counts()).converted === documents);
    expect(await counts()).toMatchObject({ converted: documents, held: 0 });
  }
  await world.archive.idle();
  expect(world.archive.documents()).toHaveLength(documents);
  expect(await audit(world)).toEqual([]);
}

test("whatever becomes of its first sending, a document is archived once", async () => {
  await using world = await aWorld();
  const all = Object.entries(UPLOADS).map(([what, fault]) => ({ name: `${what}.pdf`, fault }));
  world.archive.setFaults(all.map(({ name, fault }) => ({ ...upload, ...fault, named: name })));
  for (const [seed, { name }] of all.entries()) world.write(name, pdfOf(2, { seed }));
  await archivedOnce(world, all.length, DOUBT_MS);
  const sendings = world.archive.requests().upload;
  expect(sendings, "those that were not stored are sent again").toBe(all.length + 5);
});

test.for(LISTS)(
  "a document whose reply was lost, in a list that is $0, is archived once",
  async ([, rule]) => {
    await using world = await aWorld();
    world.archive.setFaults([{ ...upload, do: "dropAfter" }, rule]);
    world.write("contract.pdf", pdfOf(2));
    await archivedOnce(world, 1, DOUBT_MS);
  },
);

test("many at once, every third reply lost, stored or not: each once", async () => {
  await using world = await aWorld();
  world.archive.setFaults(({ operation, nth }) => {
    if (operation !== "upload" || nth % 3 !== 0) return undefined;
    return nth % 2 === 0 ? { do: "dropAfter" } : { do: "dropBefore" };
  });
  for (let n = 0; n < 40; n++) world.write(`scan-${n}.pdf`, pdfOf(1, { seed: n }));
  {
    await using live = await aDaemon(world.config(doubtOf(world, BRISK_MS)));
    // One that the archive has yet to convert when its doubt is over is held for half a minute.
    const { daemon } = live;
    await until("all", async () => (await daemon.status()).documents.converted === 40);
  }
  expect(world.archive.documents()).toHaveLength(40);
  expect(await audit(world)).toEqual([]);
});

test("a firewall that refuses one document, and a proxy three large ones, keep no other from it", async () => {
  await using world = await aWorld();
  const no = { on: "upload", do: "status", stored: false, html: true, times: Infinity } as const;
  const large = [1, 2, 3].map((n) => `large-${n}.pdf`);
  world.archive.setFaults([
    { ...no, status: 403, named: "letter-2.pdf" },
    ...large.map((named) => ({ ...no, status: 413, named })),
  ]);
  const files = [...large, ...[1, 2, 3, 4, 5].map((n) => `letter-${n}.pdf`)];
  for (const [seed, file] of files.entries()) world.write(file, pdfOf(1, { seed }));
  const one = { ...world.config(), upload: { ...world.config().upload, concurrency: 1 } };
  await using live = await aDaemon(one);
  await until("the rest", async () => (await live.daemon.status()).documents.converted === 4);
  await until("these", async () => (await live.daemon.status()).documents.held === 4);
  expect((await live.daemon.status()).gate).toBeNull();
  const held = (await rowsOf(world.journal)).filter(({ state }) => state === "held");
  expect(
    held.map(({ problem }) => problem?.code ?? "").toSorted((a, b) => (a < b ? -1 : 1)),
  ).toEqual(["HTTP_403", "HTTP_413", "HTTP_413", "HTTP_413"]);
});

test("two candidates that cannot be told apart are held for a person, with their ids", async () => {
  await using world = await aWorld();
  const bytes = pdfOf(1);
  // Someone else puts a document of the same name and size there at the same moment.
  world.archive.setFaults([{ ...upload, do: "dropAfter", times: 2 }]);
  world.write("scan.pdf", bytes);
  await using other = await aWorldWithout(world.archive.url, bytes);
  // Later than the doubt's end it would be no candidate any more.
  await other.sent;
  // It is there before the first run has looked: that is not what is asked here.
  const config = world.config(doubtOf(world, BRIEF_MS), { firstRun: "upload" });
  await using live = await aDaemon(config);
  await live.idle();
  const [row] = await rowsOf(world.journal);
  expect(row).toMatchObject({ state: "held", problem: { code: "DOUBT_AMBIGUOUS" } });
  for (const { id } of world.archive.documents()) {
    expect(row?.problem?.message).toContain(String(id));
  }
  expect(world.archive.documents()).toHaveLength(2);
  // Renamed, it is the same document still.
  renameSync(join(world.source, "scan.pdf"), join(world.source, "invoice.pdf"));
  const renamed = async () =>
    (await rowsOf(world.journal)).find(({ movedFrom }) => movedFrom !== null);
  await until("its row to follow", renamed);
  await live.idle();
  expect(await rowsOf(world.journal)).toMatchObject([{ state: "held", name: "invoice.pdf" }]);
  expect(world.archive.documents()).toHaveLength(2);
});

/** Another client that uploads the same bytes under the same name, and gets no reply either. */
async function aWorldWithout(url: string, bytes: Buffer) {
  const { HttpArchive } = await import("../../src/archive/http-archive.ts");
  const { ACCOUNT_KEY, SECRET, TIMEOUT_MS } = await import("../fixtures/world.ts");
  const signing = {
    scheme: "hmac",
    algorithm: "sha256",
    encoding: "base64",
    secret: SECRET,
  } as const;
  const settings = { url, accountKey: ACCOUNT_KEY, signing, timeoutMs: TIMEOUT_MS, connections: 1 };
  const client = await HttpArchive.open(settings, systemClock);
  const never = new AbortController().signal;
  const folders = await client.folders({}, never);
  const folderId = folders.folders.find(({ name }) => name === "Scans")?.id ?? 0;
  const file = { sizeBytes: bytes.length, bytes };
  const sent = client
    .upload({ folderId, filename: "scan.pdf", file, sha256: () => "" }, never)
    .then(
      () => false,
      () => true,
    );
  return { sent, [Symbol.asyncDispose]: () => client.close() };
}

test("what was under way when the daemon died is looked for before it is sent again", async () => {
  // The reply takes longer than the daemon lives, however long that is.
  const replyMs = 3_600_000;
  const over = Promise.withResolvers<void>();
  const sleep: Clock["sleep"] = (ms, signal) => {
    const slept = systemClock.sleep(ms, signal);
    return ms === replyMs ? Promise.race([over.promise, slept]) : slept;
  };
  await using world = await aWorld({ clock: { ...systemClock, sleep } });
  world.archive.setFaults([{ ...upload, do: "delay", ms: replyMs }]);
  world.write("scan.pdf", pdfOf(1));
  const brief = { shutdownMs: 50 };
  {
    await using _live = await aDaemon(world.config(brief));
    await until("the upload", () => world.archive.requests().upload === 1);
  }
  const [row] = await rowsOf(world.journal);
  expect(row?.state).toBe("inDoubt");
  over.resolve();
  {
    await using live = await aDaemon(world.config());
    const { daemon } = live;
    await until("it", async () => (await daemon.status()).documents.converted === 1);
  }
  await world.archive.idle();
  expect(await audit(world)).toEqual([]);
  expect(world.archive.documents()).toHaveLength(1);
});

test("an archive that is away costs no document an attempt it does not get back", async () => {
  await using world = await aWorld();
  for (let n = 0; n < 10; n++) world.write(`scan-${n}.pdf`, pdfOf(1, { seed: n }));
  const config = world.config();
  const nowhere = { ...config.archive, url: "http://127.0.0.1:9" };
  {
    await using live = await aDaemon({ ...config, archive: nowhere });
    await expect(live.idle()).rejects.toMatchObject({ code: "ARCHIVE_UNREACHABLE" });
    // Every now and then one of them is on its way to find out whether it is back.
    const status = await until("all of them to wait", async () => {
      const now = await live.daemon.status();
      return now.documents.pending === 10 && now;
    });
    expect(status.documents).toMatchObject({ pending: 10, failed: 0 });
  }
  {
    await using live = await aDaemon(config);
    await live.idle();
  }
  expect(await audit(world)).toEqual([]);
});
