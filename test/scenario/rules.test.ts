/** What goes with documents, over the whole daemon: real files, real readers, the embedded archive. */
import { existsSync, mkdirSync, readdirSync, renameSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type MirrorRules, NO_RULES } from "../../src/rules/rules.ts";
import { bytesOf, joinRaw } from "../../src/std/raw-path.ts";
import { aDaemon } from "../fixtures/a-daemon.ts";
import { audit, digestOf, rowsOf } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { until } from "../fixtures/until.ts";
import { aWorld, type World } from "../fixtures/world.ts";
import { rulesOf, type Written } from "../unit/rules/a-decision.ts";

const YEAR_MS = 365.25 * 86_400_000;

/** A file next to documents, written long ago. */
function beside(world: World, path: string, text: string): string {
  const file = world.write(path, text);
  utimesSync(file, 1_000, 1_000);
  return file;
}

const withRules = (world: World, written: Written, more: object = {}) =>
  world.config({}, { rules: rulesOf(written) satisfies MirrorRules, ...more });

const rowAt = async (world: World, path: string) =>
  (await rowsOf(world.journal)).find(
    (row) => row.current && bytesOf(joinRaw(row.dir, row.name)).toString() === path,
  );

const archived = (world: World, filename: string) =>
  world.archive.documents().find((document) => document.filename === filename);

test("path, sidecar and expiry go with a document, into the folder that the path names", async () => {
  await using world = await aWorld({ folders: ["/2026/Legal"] });
  world.write("Legal/2026/Lease.pdf", pdfOf(2));
  // Directories had such files once, with templates of anybody's.
  beside(world, "Legal/.scanferry.yaml", "author: Legal department\n");
  beside(
    world,
    "Legal/2026/Lease.pdf.yaml",
    "title: Lease of the ground floor\nkeywords: [a, b]\n",
  );
  const config = withRules(world, {
    match: "^(?<department>[^/]+)/(?<year>\\d{4})/",
    target: "/{group.year}/{group.department}",
    sidecar: "required",
    metadata: {
      author: "Nobody",
      subject: "{group.year} papers",
      producer: "Scanner",
      description: "{stem} of {group.department}",
    },
    expiry: { after: { months: 84, days: 0 }, from: { kind: "uploaded" } },
  });
  await using live = await aDaemon(config);
  await live.idle();
  const document = archived(world, "Lease.pdf");
  expect(world.archive.documents()).toHaveLength(1);
  expect(document).toMatchObject({
    folderPath: "/2026/Legal",
    title: "Lease of the ground floor",
    author: "Nobody",
    subject: "2026 papers",
    keywords: "a, b",
    producer: "Scanner",
    description: "Lease of Legal",
  });
  const years = ((document?.expireDate ?? 0) - Date.now()) / YEAR_MS;
  expect(years).toBeGreaterThan(6.99);
  expect(years).toBeLessThan(7.01);
  const { attributes } = (await rowAt(world, "Legal/2026/Lease.pdf")) ?? {};
  expect(attributes?.metadata?.title?.from).toBe("sidecar");
  expect(attributes?.expiry?.at).toBe(document?.expireDate);
  // The auditor knows nothing of what stands next to documents: that is all it may miss.
  expect(await audit(world)).toEqual([
    "Legal/.scanferry.yaml: not in the journal",
    "Legal/2026/Lease.pdf.yaml: not in the journal",
  ]);
});

test("what is archived is not held for a sidecar when it is renamed after sidecars came to be required", async () => {
  await using world = await aWorld();
  world.write("old.pdf", pdfOf(1, { seed: 1 }));
  {
    await using live = await aDaemon(withRules(world, {}));
    await live.idle();
  }
  renameSync(join(world.source, "old.pdf"), join(world.source, "new.pdf"));
  world.write("other.pdf", pdfOf(1, { seed: 2 }));
  await using live = await aDaemon(withRules(world, { sidecar: "required" }));
  await live.idle();
  expect(await rowAt(world, "new.pdf")).toMatchObject({ state: "converted", movedFrom: "old.pdf" });
  expect((await rowAt(world, "other.pdf"))?.problem?.code).toBe("SIDECAR_MISSING");
  expect(world.archive.documents()).toHaveLength(1);
});

test("a required sidecar is waited for; a broken one holds its own document, until it is fixed", async () => {
  await using world = await aWorld();
  world.write("waits.pdf", pdfOf(1, { seed: 1 }));
  world.write("broken.pdf", pdfOf(1, { seed: 2 }));
  world.write("whole.pdf", pdfOf(1, { seed: 3 }));
  beside(world, "broken.pdf.yaml", "title: Rent\nautor: Anna\n");
  beside(world, "whole.pdf.json", '{"title": "Whole"}');
  await using live = await aDaemon(withRules(world, { sidecar: "required" }));
  await live.idle();
  expect(archived(world, "whole.pdf")?.title).toBe("Whole");
  expect((await rowAt(world, "waits.pdf"))?.problem?.code).toBe("SIDECAR_MISSING");
  const broken = (await rowAt(world, "broken.pdf"))?.problem;
  expect(broken?.code).toBe("NOTES_BROKEN");
  expect(broken?.message).toMatch(/^broken\.pdf\.yaml:2:1: unknown key/);
  writeFileSync(join(world.source, "broken.pdf.yaml"), "title: Rent\nauthor: Anna\n");
  writeFileSync(join(world.source, "waits.pdf.yaml"), "title: Late\n");
  await until("both go on", () => world.archive.documents().length === 3);
  expect(archived(world, "broken.pdf")).toMatchObject({ title: "Rent", author: "Anna" });
  expect(archived(world, "waits.pdf")).toMatchObject({ title: "Late" });
});

test("a sidecar goes where its document goes", async () => {
  await using world = await aWorld();
  const to = join(world.dir, "done");
  mkdirSync(to);
  world.write("a/x.pdf", pdfOf(1));
  beside(world, "a/x.pdf.yaml", "title: X\n");
  const config = withRules(
    world,
    { sidecar: "optional", target: "/Scans" },
    {
      target: { path: "/Scans" },
      after: { kind: "move", to },
    },
  );
  await using live = await aDaemon(config);
  await live.idle();
  expect(existsSync(join(to, "a/x.pdf"))).toBe(true);
  await until("the sidecar follows", () => existsSync(join(to, "a/x.pdf.yaml")));
  expect(existsSync(join(world.source, "a/x.pdf.yaml"))).toBe(false);
  expect(world.archive.documents()).toHaveLength(1);
});

test("the next document's sidecar, there before this one is CONVERTED, stays and is the next one's", async () => {
  await using world = await aWorld();
  world.archive.setFaults([{ on: "upload", do: "convert", afterMs: 2_000, times: 1 }]);
  const file = world.write("scan.pdf", pdfOf(1, { seed: 1 }));
  beside(world, "scan.pdf.yaml", "title: Yesterday\n");
  const config = withRules(world, { sidecar: "optional" }, { after: { kind: "delete" } });
  await using live = await aDaemon(config);
  await until("it is sent", () => world.archive.documents().length === 1);
  beside(world, "scan.pdf.yaml", "title: Today\n");
  await until("it is deleted", () => !existsSync(file));
  await live.idle();
  expect(existsSync(join(world.source, "scan.pdf.yaml"))).toBe(true);
  expect((await rowAt(world, "scan.pdf"))?.afterMessage).toMatch(/scan\.pdf\.yaml stayed/);
  world.write("scan.pdf", pdfOf(1, { seed: 2 }));
  await until("the next one is sent", () => world.archive.documents().length === 2);
  expect(world.archive.documents().map(({ title }) => title)).toEqual(["Yesterday", "Today"]);
  await until("both go", () => readdirSync(world.source).length === 0);
});

test.for([
  ["hold", 0, "held", "its date is worth waiting for"],
  ["upload-without", 1, "converted", "the document is worth more than its date"],
] as const)(
  "without the reminder plugin, %s: %i archived, %s: %s",
  async ([withoutPlugin, count, state]) => {
    await using world = await aWorld({ reminderPlugin: false });
    world.write("a.pdf", pdfOf(1));
    const written = rulesOf({
      expiry: { after: { months: 12, days: 0 }, from: { kind: "uploaded" } },
    });
    const rules = { ...written, guards: { ...written.guards, withoutPlugin } };
    await using live = await aDaemon(world.config({}, { rules }));
    await live.idle();
    const row = await rowAt(world, "a.pdf");
    expect(row?.state).toBe(state);
    expect(row?.attributes?.withoutExpiry).toBe(count === 1 ? true : undefined);
    expect(world.archive.documents()).toHaveLength(count);
    expect(world.archive.documents().every(({ expireDate }) => expireDate == null)).toBe(true);
  },
);

test("what the rules hold goes on with other rules at the next start", async () => {
  await using world = await aWorld();
  world.write("a.pdf", pdfOf(1));
  const wanted: Written = { match: "^(?<year>\\d{4})/", target: "/{group.year}" };
  {
    await using live = await aDaemon(withRules(world, wanted));
    await live.idle();
    expect((await rowAt(world, "a.pdf"))?.problem?.code).toBe("TARGET_UNKNOWN");
  }
  await using live = await aDaemon(withRules(world, {}));
  await until("it goes on", async () => (await rowAt(world, "a.pdf"))?.state === "converted");
  await live.idle();
});

test("with `ready: marker` a file waits for its marker, which goes where it goes", async () => {
  await using world = await aWorld();
  const to = join(world.dir, "done");
  mkdirSync(to);
  world.write("a.pdf", pdfOf(1, { seed: 1 }));
  world.write("b.pdf", pdfOf(1, { seed: 2 }));
  world.write("b.pdf.done", "");
  const ready = { ...NO_RULES.ready, by: "marker" } as const;
  await using live = await aDaemon(withRules(world, { ready }, { after: { kind: "move", to } }));
  await live.idle();
  expect(world.archive.documents().map(({ filename }) => filename)).toEqual(["b.pdf"]);
  expect((await rowAt(world, "a.pdf"))?.problem?.code).toBe("MARKER_MISSING");
  await until("the marker follows", () => existsSync(join(to, "b.pdf.done")));
  world.write("a.pdf.done", "");
  await until("the other goes on", () => world.archive.documents().length === 2);
});

test("with `ready: rename` only what was renamed into place is sent; sizes and ages are minded", async () => {
  await using world = await aWorld();
  const inPlace = world.write("in-place.pdf", pdfOf(1, { seed: 1 }));
  expect(existsSync(inPlace)).toBe(true);
  const draft = world.write("renamed.pdf.tmp", pdfOf(1, { seed: 2 }));
  world.write("small.txt", "x");
  world.write("large.txt", "x".repeat(20_000));
  // Longer than a tick of the kernel's clock.
  await new Promise((resolve) => setTimeout(resolve, 30));
  renameSync(draft, join(world.source, "renamed.pdf"));
  for (const name of ["small.txt", "large.txt"]) utimesSync(join(world.source, name), 1, 1);
  const ready = { by: "rename", minAgeMs: 0, minBytes: 10, maxBytes: 10_000 } as const;
  await using live = await aDaemon(withRules(world, { ready }));
  await live.idle();
  expect(world.archive.documents().map(({ filename }) => filename)).toEqual(["renamed.pdf"]);
  const codes = ["in-place.pdf", "small.txt", "large.txt"].map(
    async (name) => (await rowAt(world, name))?.problem?.code,
  );
  expect(await Promise.all(codes)).toEqual(["NOT_RENAMED", "FILE_TOO_SMALL", "FILE_TOO_LARGE"]);
});

test("duplicates: skip sends no third copy either, once the file that was sent has been edited", async () => {
  await using world = await aWorld();
  await using live = await aDaemon(withRules(world, { duplicates: "skip" }));
  const bytes = pdfOf(3, { seed: 1 });
  const written = async (name: string, content: Buffer) => {
    world.write(name, content);
    await until(name, async () =>
      (await rowsOf(world.journal)).some((row) => {
        const isIt = row.current && row.name === name && row.state === "converted";
        return isIt && row.digest === digestOf(content);
      }),
    );
  };
  await written("original.pdf", bytes);
  await written("copy.pdf", bytes);
  await written("original.pdf", pdfOf(2, { seed: 2 }));
  await written("third.pdf", bytes);
  await live.idle();
  expect(world.archive.documents()).toHaveLength(2);
  const rows = await rowsOf(world.journal);
  const first = rows.find(({ current }) => !current);
  for (const name of ["copy.pdf", "third.pdf"]) {
    const row = rows.find((each) => each.name === name);
    expect(row).toMatchObject({ duplicateOf: first?.id, documentId: first?.documentId });
  }
});

test.for([
  ["upload", 3, "content is paid for as often as it comes"],
  ["skip", 1, "the others are moved or deleted in an hour, where the first one goes at once"],
] as const)("duplicates: %s sends %i of three: %s", async ([duplicates, count]) => {
  await using world = await aWorld();
  const to = join(world.dir, "twins");
  mkdirSync(to);
  const names = ["a.pdf", "b.pdf", "c.pdf"];
  for (const name of names) world.write(name, pdfOf(3, { seed: 1 }));
  const after = { kind: "move", to } as const;
  await using live = await aDaemon(withRules(world, { duplicates }, { after }));
  await live.idle();
  expect(world.archive.documents()).toHaveLength(count);
  const status = await live.daemon.status();
  expect(status.documents.converted).toBe(3);
  expect(status.duplicates).toEqual({ documents: 3 - count, pages: (3 - count) * 3 });
  const there = () => names.filter((name) => existsSync(join(world.source, name))).length;
  await until("what was sent is moved or deleted", () => there() === 3 - count);
  const rows = await rowsOf(world.journal);
  const due = rows.filter(({ after, dueAt }) => after === "due" && (dueAt ?? 0) > Date.now());
  expect(due).toHaveLength(duplicates === "skip" ? 2 : 0);
  const original = rows.find(({ duplicateOf }) => duplicateOf === null);
  for (const row of rows.filter(({ duplicateOf }) => duplicateOf !== null)) {
    expect(row).toMatchObject({ duplicateOf: original?.id, documentId: original?.documentId });
  }
});
