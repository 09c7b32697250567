/** `sync` over real documents that lie next to the project, where they are present. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { rowsOf } from "../fixtures/auditor.ts";
import { SqliteJournal } from "../../src/journal/sqlite-journal.ts";
import { aWorld } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";

const SAMPLES = fileURLToPath(new URL("../../../shared/samples", import.meta.url));
const TRUTH = `${SAMPLES}.csv`;

type Sample = {
  path: string;
  sha256: string;
  kind: string;
  pages: number | null;
  contains: string[];
};

function samples(): Sample[] {
  const [, ...lines] = readFileSync(TRUTH, "utf8").trim().split(/\r?\n/);
  return lines.map((line) => {
    const [path = "", , sha256 = "", kind = "", pages = "", contains = ""] = line.split(",");
    return {
      path,
      sha256,
      kind,
      pages: pages === "" ? null : Number(pages),
      contains: contains === "" ? [] : contains.split(";"),
    };
  });
}

test.skipIf(!existsSync(TRUTH))(
  "every sample is archived once, with its true pages and contents",
  async () => {
    const truth = samples();
    const folders = truth.map(({ path }) => `/Scans/${path}`.replace(/\/[^/]*$/, ""));
    await using world = await aWorld({ folders: [...new Set(folders)] });
    const config = world.configFile();
    const yaml = readFileSync(config, "utf8").replace(
      `source: ${world.source}`,
      `source: ${SAMPLES}`,
    );
    writeFileSync(config, yaml, { mode: 0o600 });
    const sync = await scanferry(["--config", config, "sync"]);
    expect(sync.code, sync.stderr).toBe(0);

    const stored = new Map(world.archive.documents().map((each) => [each.sha256, each]));
    expect(world.archive.documents()).toHaveLength(truth.length);
    for (const { path, sha256, pages } of truth) {
      const document = stored.get(sha256);
      expect(document, path).toMatchObject({ status: "CONVERTED" });
      if (pages !== null) expect(document?.pages, path).toBe(pages);
      expect(`${document?.folderPath}/${document?.filename}`).toBe(`/Scans/${path}`);
    }
    const rows = await rowsOf(world.journal);
    await using journal = await SqliteJournal.open({ path: world.journal, role: "reader" });
    for (const { path, sha256, contains } of truth.filter(({ kind }) => kind === "digidoc")) {
      const row = rows.find(({ digest }) => digest === sha256);
      const contents = await journal.contents(row?.id ?? 0);
      expect(contents.map(({ filename }) => filename).sort(), path).toEqual(contains.toSorted());
    }
  },
  120_000,
);
