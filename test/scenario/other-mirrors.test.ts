/** Files that move between the mirrors of an archive, or whose mirror gets another name or source: none is sent again. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { pdfOf } from "../fixtures/documents.ts";
import { NO_POSTGRES } from "../fixtures/postgres.ts";
import { thePostgres } from "../fixtures/the-postgres.ts";
import { type World, aWorld } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";

const run = (config: string, ...words: string[]) => scanferry(["--config", config, ...words]);

const JOURNALS = NO_POSTGRES === undefined ? ["SQLite", "PostgreSQL"] : ["SQLite"];

describe.each(JOURNALS)("with a journal in %s", (database) => {
  const MIRRORS = /^mirrors:\n[\s\S]*?\n(?=journal:)/m;
  /** Mirrors by name: the folder below the world's directory, and the archive folder. */
  type Mirrors = Readonly<Record<string, readonly [folder: string, target: string]>>;
  /** Writes the configuration of a world, whose journal is one place. */
  const configuring = (world: World) => {
    const place = database === "PostgreSQL" ? thePostgres().place() : undefined;
    const journal = place ? `{ url: "${place.url}?schema=${place.schema}" }` : world.journal;
    return (mirrors: Mirrors): string => {
      const config = world.configFile();
      const lines = Object.entries(mirrors).map(([name, [folder, target]]) => {
        return `  - { name: ${name}, source: ${world.dir}/${folder}, target: ${target}, settle: 300ms }\n`;
      });
      const text = readFileSync(config, "utf8")
        .replace(MIRRORS, `mirrors:\n${lines.join("")}`)
        .replace(/^journal: .*$/m, `journal: ${journal}`);
      writeFileSync(config, text);
      return config;
    };
  };
  const move = (world: World, from: string, to: string) => {
    mkdirSync(dirname(`${world.dir}/${to}`), { recursive: true });
    renameSync(`${world.dir}/${from}`, `${world.dir}/${to}`);
  };

  test.for<[string, Mirrors, [string, string][], Mirrors, number]>([
    [
      "another name and another source",
      { scans: ["scans", "/Scans"] },
      [["scans", "office"]],
      { office: ["office", "/Scans"] },
      0,
    ],
    [
      "two are merged",
      { one: ["scans/1", "/Scans/1"], two: ["scans/2", "/Scans/2"] },
      [],
      { all: ["scans", "/Scans"] },
      0,
    ],
    [
      "one is split, and a part keeps its name",
      { scans: ["scans", "/Scans"] },
      [],
      { scans: ["scans/1", "/Scans/1"], new: ["scans/2", "/Scans/2"] },
      0,
    ],
    [
      "a file is moved between two with one archive folder",
      { one: ["scans/1", "/Scans"], two: ["scans/2", "/Scans"] },
      [["scans/1/a.pdf", "scans/2/moved.pdf"]],
      { one: ["scans/1", "/Scans"], two: ["scans/2", "/Scans"] },
      0,
    ],
    [
      "a file is moved between two with archive folders of their own, where another document is wanted",
      { one: ["scans/1", "/Scans/1"], two: ["scans/2", "/Scans/2"] },
      [["scans/1/a.pdf", "scans/2/moved.pdf"]],
      { one: ["scans/1", "/Scans/1"], two: ["scans/2", "/Scans/2"] },
      1,
    ],
  ])("%s", async ([, before, moves, after, more]) => {
    await using world = await aWorld({ folders: ["/Scans/1", "/Scans/2"] });
    const configured = configuring(world);
    world.write("1/a.pdf", pdfOf(1, { seed: 1 }));
    world.write("2/b.pdf", pdfOf(1, { seed: 2 }));
    expect((await run(configured(before), "sync")).code).toBe(0);
    for (const [from, to] of moves) move(world, from, to);
    const config = configured(after);
    const plan = await run(config, "plan", "--json");
    expect(JSON.parse(plan.stdout)).toMatchObject({ totals: { hold: 0, send: more } });
    expect((await run(config, "sync")).code).toBe(0);
    expect(world.archive.documents()).toHaveLength(2 + more);
  });

  test("where the source of the other one is away, it is held until that is back", async () => {
    await using world = await aWorld();
    const mirrors: Mirrors = { one: ["scans/1", "/Scans"], two: ["scans/2", "/Scans"] };
    world.write("1/a.pdf", pdfOf(1, { seed: 1 }));
    world.write("2/b.pdf", pdfOf(1, { seed: 2 }));
    const config = configuring(world)(mirrors);
    expect((await run(config, "sync")).code).toBe(0);
    move(world, "scans/2/b.pdf", "scans/1/b.pdf");
    move(world, "scans/2", "away");
    const away = await run(config, "sync");
    expect(away.stderr).toContain("mirror two: ");
    expect(away.stdout).toContain("SOURCE_OFFLINE: it may be b.pdf of mirror two");
    move(world, "away", "scans/2");
    expect(await run(config, "sync")).toMatchObject({ code: 0 });
    expect(world.archive.documents()).toHaveLength(2);
  });
});
