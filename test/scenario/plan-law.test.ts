/** What `plan` says is what `sync` then does, over random trees, journals and archives. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { pdfOf } from "../fixtures/documents.ts";
import { uploadByColleague } from "../fixtures/a-colleague.ts";
import { aWorld, type World } from "../fixtures/world.ts";
import { linesOf, scanferry } from "../unit/cli/in-process.ts";

type Planned = {
  readonly path: string;
  readonly action: "send" | "hold" | "wait" | "skip";
  readonly folderId: number | null;
  readonly sentName: string;
  readonly error: { readonly code: string } | null;
};

type Row = {
  readonly path: string;
  readonly state: string;
  readonly error: { readonly code: string } | null;
};

const DIRS = ["", "2026/", "New/"];
const NAMES = ["a.pdf", "b.pdf", "c: d.pdf"];
const path = fc
  .tuple(fc.constantFrom(...DIRS), fc.constantFrom(...NAMES))
  .map(([dir, name]) => `${dir}${name}`);
const content = fc.record({ seed: fc.nat(2), whole: fc.boolean().map((half) => !half) });
const isMostlyWhole = content.map(({ seed, whole }) => ({ seed, whole: whole || seed > 0 }));

/** What happens to the tree between two runs. */
const step = fc.oneof(
  fc.record({ kind: fc.constant("write"), path, content: isMostlyWhole }),
  fc.record({ kind: fc.constantFrom("move", "copy"), path, to: path }),
  fc.record({ kind: fc.constantFrom("touch", "remove"), path }),
);

type Step = {
  readonly kind: string;
  readonly path: string;
  readonly to?: string;
  readonly content?: { readonly seed: number; readonly whole: boolean };
};

const settings = fc.record({
  duplicates: fc.constantFrom("upload", "skip"),
  changed: fc.constantFrom("upload", "ignore"),
  missingFolder: fc.constantFrom("hold", "nearest", "fallback:/Inbox"),
  firstRun: fc.constantFrom("hold", "upload"),
});

const history = fc.record({
  before: fc.array(step, { minLength: 1, maxLength: 6 }),
  /** Whether a run was before the plan, and what happened since. */
  since: fc.option(fc.array(step, { minLength: 1, maxLength: 5 })),
  settings,
  /** What is in the archive without being anyone's here. */
  foreign: fc.option(fc.constantFrom("a.pdf", "c_ d.pdf")),
});

function happen({ source }: World, { kind, path, to, content }: Step): void {
  const at = join(source, path);
  if (kind === "write" && content) {
    const bytes = pdfOf(1, { seed: content.seed });
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, content.whole ? bytes : bytes.subarray(0, 150));
    return;
  }
  if (!existsSync(at)) return;
  if (kind === "touch") utimesSync(at, 1_000, 1_000);
  if (kind === "remove") rmSync(at);
  if (to === undefined || to === path) return;
  const target = join(source, to);
  mkdirSync(dirname(target), { recursive: true });
  if (kind === "move") renameSync(at, target);
  if (kind === "copy") copyFileSync(at, target);
}

test("what is planned is what a run does: it sends these documents, and holds those", async () => {
  const law = fc.asyncProperty(history, async ({ before, since, settings, foreign }) => {
    await using world = await aWorld({ folders: ["/Scans/2026", "/Inbox"] });
    const lines = Object.entries(settings).map(([key, value]) => `    ${key}: ${value}`);
    const config = world.configFile("", lines.join("\n"));
    const run = (...words: string[]) => scanferry(["--config", config, ...words]);
    if (foreign !== null)
      await uploadByColleague(world.archive.url, { filename: foreign, bytes: pdfOf(2) });
    for (const each of before) happen(world, each);
    if (since !== null) {
      await run("sync");
      for (const each of since) happen(world, each);
    }
    const had = new Set(world.archive.documents().map(({ id }) => id));
    const plan = JSON.parse((await run("plan", "--json")).stdout) as { documents: Planned[] };
    await run("sync");
    const sent = world.archive.documents().filter(({ id }) => !had.has(id));
    const of = (action: Planned["action"]) =>
      plan.documents.filter((each) => each.action === action);
    expect(sent.map(({ folderId, filename }) => `${folderId} ${filename}`).sort()).toEqual(
      of("send")
        .map(({ folderId, sentName }) => `${folderId} ${sentName}`)
        .sort(),
    );
    const rows = linesOf((await run("list", "--json")).stdout).map(
      (line) => JSON.parse(line) as Row,
    );
    const there = rows.filter((row) => existsSync(join(world.source, row.path)));
    const told = (all: readonly Row[]) => all.map((row) => `${row.path} ${row.error?.code}`).sort();
    const isIn = (state: string) => there.filter((row) => row.state === state);
    expect(told(isIn("held"))).toEqual(
      of("hold")
        .map((each) => `${each.path} ${each.error?.code}`)
        .sort(),
    );
    expect(
      isIn("settling")
        .map((row) => row.path)
        .sort(),
    ).toEqual(
      of("wait")
        .map((each) => each.path)
        .sort(),
    );
  });
  await fc.assert(law, { numRuns: 8, seed: 20_261_121, endOnFailure: true });
});
