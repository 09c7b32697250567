/** A journal that knows nothing, next to an archive that holds documents of the same names. */
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { aProcess } from "../fixtures/a-process.ts";
import { audit, rowsOf } from "../fixtures/auditor.ts";
import { freePort } from "../fixtures/free-port.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { until } from "../fixtures/until.ts";
import { type World, aWorld } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";

const run = (config: string, ...words: string[]) => scanferry(["--config", config, ...words]);

/** A world whose journal was lost after these files were archived. */
async function aLoss(files: readonly string[]): Promise<{ world: World; config: string }> {
  const world = await aWorld();
  const config = world.configFile();
  for (const [seed, file] of files.entries()) world.write(file, pdfOf(1, { seed }));
  expect((await run(config, "sync")).code).toBe(0);
  rmSync(dirname(world.journal), { recursive: true });
  return { world, config };
}

const held = async ({ journal }: World) =>
  (await rowsOf(journal)).filter(({ state, problem }) => {
    return state === "held" && problem?.code === "FIRST_RUN";
  });

test("after a lost journal nothing is sent twice: what has a name there is held until `adopt`", async () => {
  const { world, config } = await aLoss(["a.pdf", "b.pdf", "c.pdf"]);
  await using _ = world;
  world.write("new.pdf", pdfOf(2, { seed: 9 }));
  const first = await run(config, "sync");
  expect(first.code).toBe(3);
  expect(first.stdout).toMatch(/FIRST_RUN[\s\S]*scanferry adopt[\s\S]*firstRun: upload/);
  expect(world.archive.documents()).toHaveLength(4);
  // What was sent meanwhile ends nothing, nor does a further start.
  world.write("later.pdf", pdfOf(1, { seed: 10 }));
  expect((await run(config, "sync")).code).toBe(3);
  expect(await held(world)).toHaveLength(3);
  const told = async (...words: string[]) => (await run(config, ...words)).stdout;
  expect(await told("status")).toMatch(
    /^3 documents are held: FIRST_RUN .*\n.*\n.*scanferry adopt/m,
  );
  expect(await told("explain", `${world.source}/a.pdf`)).toMatch(/next +a person: scanferry adopt/);

  expect((await run(config, "adopt")).stdout).toContain("3 claimed");
  expect((await run(config, "sync")).code).toBe(0);
  expect(world.archive.documents()).toHaveLength(5);
  expect(await audit(world)).toEqual([]);
});

test("on the page single files are linked or sent as new, as they were shown; a kill loses neither", async () => {
  const { world, config } = await aLoss(["a.pdf", "b.pdf", "c.pdf"]);
  await using _ = world;
  const before = world.archive.documents().find(({ filename }) => filename === "b.pdf")?.sha256;
  world.write("b.pdf", pdfOf(5, { seed: 77 }));
  const url = `http://127.0.0.1:${await freePort()}`;
  const text = readFileSync(config, "utf8");
  writeFileSync(config, text.replace("web: off", `web: { listen: "${url.slice(7)}" }`));
  const ask = async (path: string, body?: object) => {
    const headers = { "x-scanferry": "1", "content-type": "application/json" };
    const post = body && { method: "POST", headers, body: JSON.stringify(body) };
    return (await fetch(url + path, post)).json() as Promise<never>;
  };
  const daemon = aProcess(["--config", config, "run"]);
  await using _daemon = daemon;
  type Shown = { readonly documents: readonly { id: number; path: string; sha256: string }[] };
  let documents: Shown["documents"] = [];
  await until("three are held", async () => {
    const shown: Shown = await ask("/api/documents?state=held&code=FIRST_RUN").catch(() => ({
      documents: [],
    }));
    documents = shown.documents;
    return documents.length === 3;
  });
  const [a, b] = ["a.pdf", "b.pdf"].map((name) => {
    const shown = documents.find(({ path }) => path === name);
    return { id: shown?.id ?? 0, digest: shown?.sha256 ?? "" };
  });
  const another = { documents: [{ ...a, digest: b?.digest }] };
  expect(await ask("/api/adopt", another)).toMatchObject({ documents: 0, changed: 1 });
  expect(await ask("/api/adopt", { documents: [a] })).toMatchObject({ documents: 1, unclear: 0 });
  expect(await ask("/api/adopt", { documents: [b] })).toMatchObject({ documents: 0, unclear: 1 });
  expect((await held(world)).map(({ name }) => name)).toEqual(["b.pdf", "c.pdf"]);
  expect(world.archive.documents()).toHaveLength(3);
  expect(await ask("/api/send-as-new", another)).toMatchObject({ documents: 0, changed: 1 });
  // Nothing of it is sent before the end, which would put it in doubt.
  await ask("/api/pause", {});
  expect(await ask("/api/send-as-new", { documents: [b] })).toMatchObject({ documents: 1 });
  await daemon.end("SIGKILL");
  await using again = aProcess(["--config", config, "run"]);
  await again.says(/"started"/);
  expect((await run(config, "resume")).code).toBe(0);
  await until("it is archived", async () => {
    const rows = await rowsOf(world.journal);
    return rows.some(({ id, state }) => id === b?.id && state === "converted");
  });
  expect((await held(world)).map(({ name }) => name)).toEqual(["c.pdf"]);
  expect(world.archive.documents()).toHaveLength(4);
  const found = await audit(world, { formerly: [before ?? ""] });
  expect(found.filter((line) => !/belongs to no row/.test(line))).toEqual([]);
});

describe("after a lost journal, what people have filed in other folders", () => {
  /** Files that the archive has in other folders than they belong in, and no journal. */
  async function aFiling() {
    const world = await aWorld({ folders: ["/Filed"] });
    const config = world.configFile();
    const text = readFileSync(config, "utf8");
    writeFileSync(config, text.replace("target: /Scans", "target: /Filed"));
    for (const seed of [1, 2]) world.write(`${seed}.pdf`, pdfOf(1, { seed }));
    expect((await run(config, "sync")).code).toBe(0);
    rmSync(dirname(world.journal), { recursive: true });
    world.write("new.pdf", pdfOf(2, { seed: 3 }));
    return { world, config: world.configFile() };
  }

  test("is held until `adopt`, and not sent again", async () => {
    const { world, config } = await aFiling();
    await using _ = world;
    const plan = await run(config, "plan", "--json");
    expect(JSON.parse(plan.stdout)).toMatchObject({ totals: { hold: 2, send: 1 } });
    const first = await run(config, "sync");
    expect(first.code, first.stderr).toBe(3);
    expect(first.stdout).toMatch(/of its size in another folder \(document \d+ in folder \d+\)/);
    expect(world.archive.documents()).toHaveLength(3);
    const adopted = (await run(config, "adopt")).stdout;
    expect(adopted).toMatch(/= {2}1\.pdf {2}document \d+, filed in folder \d+\n/);
    expect(adopted).toContain("2 claimed; 0 unclear");
    expect((await run(config, "sync")).code).toBe(0);
    expect(world.archive.documents()).toHaveLength(3);
  });

  test("is told to be sent again where the archive does not search", async () => {
    const { world, config } = await aFiling();
    await using _ = world;
    const refusal = { do: "error", code: "INVALID_QUERY_CONTENT", stored: false } as const;
    world.archive.setFaults([{ on: "search", ...refusal, times: Infinity }]);
    const told = /filed in other folders of the archive may be sent again: not all could be asked/;
    expect((await run(config, "plan")).stdout).toMatch(told);
    expect((await run(config, "adopt", "--dry-run")).stderr).toMatch(told);
    const first = await run(config, "sync");
    expect(first.stderr).toMatch(told);
    expect(first.code).toBe(0);
    expect(world.archive.documents()).toHaveLength(5);
  });
});

test("another content under a name that is there waits for the choice, and is sent after it", async () => {
  const { world, config } = await aLoss(["a.pdf"]);
  await using _ = world;
  const before = world.archive.documents()[0]?.sha256 ?? "";
  world.write("a.pdf", pdfOf(5, { seed: 77 }));
  expect((await run(config, "sync")).code).toBe(3);
  expect(world.archive.documents()).toHaveLength(1);
  expect((await run(config, "adopt")).stdout).toContain("0 claimed");
  expect((await run(config, "sync")).code).toBe(0);
  expect(world.archive.documents()).toHaveLength(2);
  const stranger = /belongs to no row/;
  const found = await audit(world, { formerly: [before] });
  expect(found.filter((line) => !stranger.test(line))).toEqual([]);
});

test("a mirror that is given another name sends nothing again, and goes on", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  world.write("a.pdf", pdfOf(1, { seed: 1 }));
  expect((await run(config, "sync")).code).toBe(0);
  world.configFile("", "    name: office");
  world.write("b.pdf", pdfOf(1, { seed: 2 }));
  expect((await run(config, "sync")).code).toBe(0);
  expect(world.archive.documents()).toHaveLength(2);
  expect(await audit(world)).toEqual([]);
});

test("`firstRun: upload` lets go what was held, once and for all", async () => {
  const { world, config } = await aLoss(["a.pdf", "b.pdf"]);
  await using _ = world;
  expect((await run(config, "sync")).code).toBe(3);
  world.configFile("", "    firstRun: upload");
  expect((await run(config, "sync")).code).toBe(0);
  expect(world.archive.documents()).toHaveLength(4);
  world.configFile();
  world.write("c.pdf", pdfOf(1, { seed: 5 }));
  expect((await run(config, "sync")).code).toBe(0);
});

test("once the first run is over, a name that another host used in the archive holds nothing back", async () => {
  await using world = await aWorld();
  await using other = await aWorld();
  const config = world.configFile();
  world.write("mine.pdf", pdfOf(1, { seed: 1 }));
  expect((await run(config, "sync")).code).toBe(0);
  // Another host carries into the same folder.
  other.write("shared.pdf", pdfOf(1, { seed: 2 }));
  const elsewhere = other.configFile();
  const text = readFileSync(elsewhere, "utf8").replace(other.archive.url, world.archive.url);
  writeFileSync(elsewhere, text);
  expect((await run(elsewhere, "sync")).code).toBe(0);
  world.write("shared.pdf", pdfOf(3, { seed: 3 }));
  expect((await run(config, "sync")).code).toBe(0);
  expect(world.archive.documents()).toHaveLength(3);
});

describe("a machine that is taken back to a snapshot", () => {
  const LOST = 15;
  const drop = (world: World, first: number, count: number) => {
    for (let n = first; n < first + count; n++) world.write(`${n}.pdf`, pdfOf(1, { seed: n }));
  };

  /** A person gives the folder that all is sent to another name, and makes a new one of the old name. */
  const renameFolder = ({ dir, archive }: World) => {
    const db = new Database(join(dir, "archive", "archive.db"));
    db.exec("UPDATE folder SET name = 'Scans of last year' WHERE name = 'Scans'");
    db.close();
    archive.createFolder("/Scans");
  };

  test.for([
    ["a daemon that was stopped", false, false],
    ["a running daemon, its folder renamed in the archive since", true, true],
  ] as const)(
    "%s: what was sent since is held until `adopt`, and nothing is sent again",
    async ([, isRunning, isRenamed]) => {
      await using world = await aWorld();
      const config = world.configFile();
      const state = dirname(world.journal);
      const snapshot = `${state}-snapshot`;
      const archived = (count: number) =>
        until(`${count} archived`, async () => {
          const rows = existsSync(world.journal) ? await rowsOf(world.journal) : [];
          return rows.filter((row) => row.state === "converted").length === count;
        });
      drop(world, 0, 3);
      if (isRunning) {
        await using daemon = aProcess(["--config", config, "run"]);
        await archived(3);
        // In its first run the journal is no reason to believe that anything was taken back.
        await until("the first run is over", async () => {
          const db = new Database(world.journal, { readonly: true });
          const over = db.prepare("SELECT first_run_over_at FROM mirrors").pluck().get();
          db.close();
          return over !== null;
        });
        cpSync(state, snapshot, { recursive: true });
        drop(world, 3, LOST);
        await archived(3 + LOST);
        await daemon.end("SIGKILL");
      } else {
        await run(config, "sync");
        cpSync(state, snapshot, { recursive: true });
        drop(world, 3, LOST);
        expect((await run(config, "sync")).code).toBe(0);
      }
      rmSync(state, { recursive: true });
      renameSync(snapshot, state);
      if (isRenamed) renameFolder(world);

      world.write("new.pdf", pdfOf(2, { seed: 99 }));
      const plan = await run(config, "plan", "--json");
      expect(JSON.parse(plan.stdout)).toMatchObject({ totals: { hold: LOST, send: 1 } });
      const first = await run(config, "sync");
      expect(first.code, first.stdout).toBe(3);
      expect(first.stdout).toContain("taken back to an earlier state");
      expect(await held(world)).toHaveLength(LOST);
      expect(world.archive.documents()).toHaveLength(3 + LOST + 1);
      expect((await run(config, "adopt")).stdout).toContain(`${LOST} claimed`);
      expect((await run(config, "sync")).code).toBe(0);
      expect(world.archive.documents()).toHaveLength(3 + LOST + 1);
      expect(await audit(world)).toEqual([]);
    },
  );
});
