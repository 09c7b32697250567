/** Hooks over the whole daemon: real commands, real readers, the embedded archive. */
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { BeforeHook, Hooks } from "../../src/config/mirror-section.ts";
import { probeNow, retryOf } from "../../src/sync/retry.ts";
import { aDaemon } from "../fixtures/a-daemon.ts";
import { aProcess } from "../fixtures/a-process.ts";
import { audit, rowsOf } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { stackOf } from "../fixtures/separators.ts";
import { until } from "../fixtures/until.ts";
import { aWorld, type World } from "../fixtures/world.ts";
import { isAlive } from "./reader/a-reader.ts";
import { scanferry } from "../unit/cli/in-process.ts";

const RUNNING = { timeoutMs: 20_000, concurrency: 2 } as const;

/** A hook of the shell. `$D` is the world's directory, `$Q` the question. */
function script(world: World, name: string, text: string): string[] {
  const program = join(world.dir, name);
  writeFileSync(program, `#!/bin/sh\nD=${world.dir}\nQ=$(cat)\n${text}\n`);
  chmodSync(program, 0o755);
  return [program];
}

const before = (world: World, text: string, set: Partial<BeforeHook> = {}): Hooks => {
  const command = script(world, "before", text);
  const kept = { onFailure: "hold", afterVeto: { kind: "keep" } } as const;
  return { before: { command, ...RUNNING, ...kept, ...set } };
};

const archived = (world: World) =>
  world.archive
    .documents()
    .map(({ filename }) => filename)
    .sort();

const lines = (file: string) =>
  existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];

test("name, folder and metadata are the hook's; a veto is not sent; both outcomes are told", async () => {
  await using world = await aWorld({ folders: ["/Scans/Invoices"] });
  const answers = `case "$Q" in
    *'"path":"bad.pdf"'*) echo '{"veto":"no invoice"}';;
    *) echo '{"name":"4711.pdf","folder":"/Scans/Invoices","metadata":{"title":"Invoice 4711"}}';;
  esac`;
  const hooks: Hooks = {
    ...before(world, answers),
    after: { command: script(world, "after", 'printf "%s\\n" "$Q" >> $D/told'), ...RUNNING },
  };
  world.write("good.pdf", pdfOf(1));
  world.write("bad.pdf", pdfOf(2));
  await using live = await aDaemon(world.config({}, { hooks }));
  await live.idle();
  const [document, ...more] = world.archive.documents();
  expect(more).toEqual([]);
  expect(document).toMatchObject({
    filename: "4711.pdf",
    title: "Invoice 4711",
    folderPath: "/Scans/Invoices",
  });
  const bad = (await rowsOf(world.journal)).find(({ name }) => name === "bad.pdf");
  expect(bad).toMatchObject({ state: "held", problem: { code: "VETOED", message: "no invoice" } });
  await until("both told", () => lines(join(world.dir, "told")).length === 2);
  const told = lines(join(world.dir, "told")).map((line) => JSON.parse(line) as object);
  expect(told).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ outcome: "converted", file: join(world.source, "good.pdf") }),
      expect.objectContaining({ outcome: "vetoed", reason: "no invoice", path: "bad.pdf" }),
    ]),
  );
  expect(await audit(world)).toEqual([]);
});

test("a hook that fails holds its own document alone; it goes on once the hook is fixed", async () => {
  await using world = await aWorld();
  const hooks = before(
    world,
    `case "$Q" in *bad.pdf*) [ -e $D/fixed ] || { echo "no database" >&2; exit 7; };; esac; echo '{}'`,
  );
  world.write("bad.pdf", pdfOf(1));
  world.write("good.pdf", pdfOf(2));
  await using live = await aDaemon(world.config({}, { hooks }));
  await live.idle();
  expect(archived(world)).toEqual(["good.pdf"]);
  const [held] = await live.daemon.journal.heldWith(["HOOK_FAILED"], 9);
  expect(held?.problem?.message).toBe(
    "the before hook failed: ended with exit code 7: no database",
  );
  writeFileSync(join(world.dir, "fixed"), "");
  const at = Date.now();
  await live.daemon.journal.apply(held ? retryOf(held, at) : []);
  await probeNow(live.daemon.journal, at);
  await until("the fixed one", () => archived(world).length === 2);
});

test("a file that is written while its hook is asked settles again, and is sent as it is then", async () => {
  await using world = await aWorld();
  const hooks = before(
    world,
    `echo x >> $D/asked
     while [ ! -e $D/go ]; do sleep 0.05; done
     echo '{"name":"asked-'$(wc -l < $D/asked)'.pdf"}'`,
  );
  const file = world.write("a.pdf", pdfOf(1, { seed: 1 }));
  await using live = await aDaemon(world.config({}, { hooks }));
  await until("the question", () => lines(join(world.dir, "asked")).length === 1);
  writeFileSync(file, pdfOf(2, { seed: 2 }));
  writeFileSync(join(world.dir, "go"), "");
  await live.idle();
  expect(world.archive.documents()).toMatchObject([{ filename: "asked-2.pdf", pages: 2 }]);
  expect(await audit(world)).toEqual([]);
});

test("killed while a hook is asked: its processes end, it is asked again, and each document is sent once", async () => {
  await using world = await aWorld();
  const [program] = script(
    world,
    "before",
    "echo $$ >> $D/asked; [ -e $D/go ] || sleep 100; echo '{}'",
  );
  const config = world.configFile(
    "",
    `    hooks: { before: { command: [${program}], timeout: 60s, concurrency: 3 } }`,
  );
  for (let n = 0; n < 3; n++) world.write(`${n}.pdf`, pdfOf(1, { seed: n }));
  {
    await using daemon = aProcess(["--config", config, "run"]);
    await until("three questions", () => lines(join(world.dir, "asked")).length === 3);
    expect(await daemon.end("SIGKILL")).toBe("SIGKILL");
  }
  const asked = lines(join(world.dir, "asked")).map(Number);
  await until("their end", () => !asked.some(isAlive));
  expect(world.archive.documents()).toEqual([]);
  writeFileSync(join(world.dir, "go"), "");
  const last = await scanferry(["--config", config, "sync"]);
  expect(last.code, last.stderr).toBe(0);
  expect(lines(join(world.dir, "asked"))).toHaveLength(6);
  expect(archived(world)).toEqual(["0.pdf", "1.pdf", "2.pdf"]);
  expect(await audit(world)).toEqual([]);
});

test("an after hook that hangs delays neither the after-action nor another document", async () => {
  await using world = await aWorld();
  const hooks: Hooks = {
    after: { command: script(world, "after", "sleep 100"), timeoutMs: 60_000, concurrency: 1 },
  };
  const to = join(world.dir, "done");
  mkdirSync(to);
  for (let n = 0; n < 5; n++) world.write(`${n}.pdf`, pdfOf(1, { seed: n }));
  const config = world.config({}, { hooks, after: { kind: "move", to } });
  await using live = await aDaemon(config);
  await until("all moved or deleted", () => readdirSync(to).length === 5);
  expect((await live.daemon.status()).undelivered).toBe(5);
});

test("told after the after-action, at least once, with one id, over a restart", async () => {
  await using world = await aWorld();
  const to = join(world.dir, "done");
  mkdirSync(to);
  const text = 'printf "%s\\n" "$Q" >> $D/told; [ -e $D/go ]';
  const hooks: Hooks = { after: { command: script(world, "after", text), ...RUNNING } };
  world.write("a.pdf", pdfOf(1));
  const config = world.config({}, { hooks, after: { kind: "move", to } });
  {
    await using live = await aDaemon(config);
    await live.idle();
    await until("a first try", () => lines(join(world.dir, "told")).length > 0);
  }
  appendFileSync(join(world.dir, "go"), "");
  await using _live = await aDaemon(config);
  await until("a second try", () => lines(join(world.dir, "told")).length > 1);
  const told = lines(join(world.dir, "told")).map((line) => JSON.parse(line) as { id: string });
  expect(new Set(told.map(({ id }) => id)).size).toBe(1);
  expect(told[0]).toMatchObject({ outcome: "converted", file: join(to, "a.pdf") });
});

const canSplit = ["python3", "qpdf", "pdftotext"].every(
  (program) => spawnSync("which", [program]).status === 0,
);

describe.skipIf(!canSplit)("the example that splits at separator sheets", () => {
  test("the parts are archived, once; the stack is moved or deleted, and nothing is held", async () => {
    await using world = await aWorld();
    const to = join(world.dir, "stacks");
    mkdirSync(to);
    const hook = fileURLToPath(new URL("../../config/hooks/split-at-separators", import.meta.url));
    const command = [hook, "--state", join(world.dir, "split"), "--text", "NEW DOCUMENT"];
    const hooks: Hooks = {
      before: {
        command,
        timeoutMs: 60_000,
        concurrency: 2,
        onFailure: "hold",
        afterVeto: { kind: "move", to },
      },
    };
    world.write("stack.pdf", stackOf(["a", "b", "NEW DOCUMENT", "c"]));
    world.write("plain.pdf", pdfOf(1));
    await using live = await aDaemon(
      world.config({}, { hooks, after: { kind: "move", to: join(world.dir, "done") } }),
    );
    await until("three documents", async () => {
      const rows = await rowsOf(world.journal);
      return rows.filter(({ after }) => after === "done").length === 3;
    });
    await live.idle();
    const documents = world.archive.documents();
    expect(documents.map(({ filename, pages }) => `${filename} ${pages}`).sort()).toEqual([
      "plain.pdf 1",
      expect.stringMatching(/^stack\.part1of2\.\w{8}\.pdf 2$/),
      expect.stringMatching(/^stack\.part2of2\.\w{8}\.pdf 1$/),
    ]);
    expect(readdirSync(to)).toEqual(["stack.pdf"]);
    expect(readdirSync(world.source)).toEqual([]);
    expect((await live.daemon.status()).documents).toMatchObject({ held: 0, converted: 3 });
  });
});
