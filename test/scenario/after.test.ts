/** After CONVERTED: files are moved or deleted only with both keys, and nothing is ever overwritten. */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aDaemon } from "../fixtures/a-daemon.ts";
import { audit, digestOf, rowsOf } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { until } from "../fixtures/until.ts";
import { aWorld } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";

test("`delete` removes a file once it is CONVERTED, and the journal keeps its row", async () => {
  await using world = await aWorld();
  const file = world.write("scan.pdf", pdfOf(1));
  await using live = await aDaemon(world.config({}, { after: { kind: "delete" } }));
  await live.idle();
  expect(existsSync(file)).toBe(false);
  expect(await rowsOf(world.journal)).toMatchObject([{ state: "converted", after: "done" }]);
  expect(world.archive.documents()).toHaveLength(1);
});

test("an archive that does not have all of a file: it stays, and `verify` ends with 3", async () => {
  await using world = await aWorld();
  world.archive.setFaults([{ on: "upload", do: "shorten", bytes: 17 }]);
  const file = world.write("scan.pdf", pdfOf(1));
  const config = world.configFile("", "    after: delete\n");
  const run = (...words: string[]) => scanferry(["--config", config, ...words]);
  await run("sync");
  expect(existsSync(file)).toBe(true);
  const sent = statSync(file).size;
  const told = `the archive reports 17 bytes, ${sent} were sent`;
  expect(await rowsOf(world.journal)).toMatchObject([
    { state: "converted", after: "refused", remark: told, sentBytes: sent },
  ]);
  expect((await run("list")).stdout).toContain(told);
  expect((await run("explain", file)).stdout).toContain(told);
  const verified = await run("verify");
  expect(verified.stdout).toContain(`now 17 bytes, were ${sent}`);
  expect(verified.code).toBe(3);
});

test("`move` keeps the tree below its target and never overwrites", async () => {
  await using world = await aWorld({ folders: ["/Scans/2026"] });
  const done = join(world.dir, "done");
  mkdirSync(join(done, "2026"), { recursive: true });
  writeFileSync(join(done, "2026", "scan.pdf"), "another one");
  const bytes = pdfOf(1);
  const file = world.write("2026/scan.pdf", bytes);
  await using live = await aDaemon(world.config({}, { after: { kind: "move", to: done } }));
  await live.idle();
  expect(existsSync(file)).toBe(false);
  expect(readFileSync(join(done, "2026", "scan.pdf"), "utf8")).toBe("another one");
  const moved = readdirSync(join(done, "2026")).filter((name) => name !== "scan.pdf");
  expect(moved.map((name) => digestOf(readFileSync(join(done, "2026", name))))).toEqual([
    digestOf(bytes),
  ]);
});

test("where nothing can be moved to just now, it is said, and the files are moved once it can", async () => {
  await using world = await aWorld();
  const done = join(world.dir, "done");
  writeFileSync(done, "in the way");
  const file = world.write("scan.pdf", pdfOf(1));
  await using live = await aDaemon(world.config({}, { after: { kind: "move", to: done } }));
  await until("refused", async () => (await rowsOf(world.journal))[0]?.afterMessage != null);
  const { afterPending } = await live.daemon.status();
  expect(afterPending).toMatchObject([{ path: "scan.pdf", why: expect.stringContaining(done) }]);
  expect(existsSync(file)).toBe(true);
  rmSync(done);
  await until("moved", async () => existsSync(join(done, "scan.pdf")));
  await live.idle();
  expect((await live.daemon.status()).afterPending).toEqual([]);
});

test("what is moved into a folder of its own source is not sent again", async () => {
  await using world = await aWorld();
  world.write("scan.pdf", pdfOf(1));
  const after = { kind: "move", to: join(world.source, "done") } as const;
  await using live = await aDaemon(world.config({}, { after }));
  await live.idle();
  live.daemon.rescan("test");
  await live.idle();
  expect(existsSync(join(world.source, "done", "scan.pdf"))).toBe(true);
  expect(world.archive.documents()).toHaveLength(1);
});

test("what was moved into a folder of its own source is not sent once the files are put elsewhere", async () => {
  await using world = await aWorld({ folders: ["/Scans/done"] });
  world.write("scan.pdf", pdfOf(1));
  const after = { kind: "move", to: join(world.source, "done") } as const;
  {
    await using first = await aDaemon(world.config({}, { after }));
    await first.idle();
  }
  await using second = await aDaemon(world.config({}, { after: { kind: "keep" } }));
  await second.idle();
  expect(world.archive.documents()).toHaveLength(1);
  expect(await audit(world)).toEqual([]);
});

test("archived under `keep`, then `delete`: a touch deletes nothing, and what is new goes", async () => {
  await using world = await aWorld();
  const file = world.write("kept.pdf", pdfOf(1, { seed: 1 }));
  {
    await using live = await aDaemon(world.config());
    await live.idle();
  }
  const later = world.write("new.pdf", pdfOf(1, { seed: 2 }));
  await using live = await aDaemon(world.config({}, { after: { kind: "delete" } }));
  utimesSync(file, new Date(1_000), new Date(1_000));
  live.daemon.rescan("test");
  await until("the touch", async () =>
    (await rowsOf(world.journal)).some(
      ({ seen, state }) => seen.modifiedAt === 1_000 && state === "converted",
    ),
  );
  await until("the new one gone", async () => !existsSync(later));
  await live.idle();
  expect(existsSync(file)).toBe(true);
  expect(world.archive.documents()).toHaveLength(2);
});

test("a file that was edited before its turn came stays, and the edit is archived", async () => {
  await using world = await aWorld();
  // Not CONVERTED before the edit is made.
  world.archive.setFaults([{ on: "upload", do: "convert", afterMs: 2_500 }]);
  const file = world.write("scan.pdf", pdfOf(1, { seed: 1 }));
  await using live = await aDaemon(world.config({}, { after: { kind: "delete" } }));
  await until("uploaded", async () => (await rowsOf(world.journal))[0]?.state === "uploaded");
  const edited = pdfOf(2, { seed: 2 });
  writeFileSync(file, edited);
  await live.idle();
  expect(existsSync(file)).toBe(false);
  const digests = world.archive.documents().map(({ sha256 }) => sha256);
  expect(digests, "both contents are in the archive").toContain(digestOf(edited));
  expect(digests).toHaveLength(2);
});

test("a reader that is killed in the middle of its work loses and doubles nothing", async () => {
  await using world = await aWorld();
  for (let n = 0; n < 60; n++) world.write(`scan-${n}.pdf`, pdfOf(1, { seed: n }));
  {
    await using live = await aDaemon(world.config());
    for (const least of [5, 20, 40]) {
      await until(`${least} documents`, () => world.archive.documents().length >= least);
      for (const pid of readersOf(process.pid)) process.kill(pid, "SIGKILL");
    }
    // One that the archive has yet to convert when its doubt is over is held for half a minute.
    const { daemon } = live;
    await until("all", async () => (await daemon.status()).documents.converted === 60);
  }
  expect(world.archive.documents()).toHaveLength(60);
  expect(await audit(world)).toEqual([]);
});

/** Process ids of the readers that this process has started. */
function readersOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return (
          stat.split(") ")[1]?.split(" ")[1] === String(parent) && command.includes("reader/child.")
        );
      } catch {
        return false;
      }
    });
}

test("what another life left put aside gets its name back, also where nothing is moved or deleted any more", async () => {
  await using world = await aWorld();
  world.write(".scanferry-scan.pdf-0123abcd", pdfOf(1));
  await using live = await aDaemon(world.config());
  await live.idle();
  expect(readdirSync(world.source)).toEqual(["scan.pdf"]);
  expect(world.archive.documents()).toMatchObject([{ filename: "scan.pdf" }]);
});

test("converted while its mirror was out of the configuration: moved or deleted once it is back", async () => {
  await using world = await aWorld({ convertDelayMs: 3_000 });
  const file = world.write("scan.pdf", pdfOf(1));
  const other = join(world.dir, "other");
  mkdirSync(other);
  const config = world.config({}, { after: { kind: "delete" } });
  const [mirror] = config.mirrors;
  if (!mirror) throw new Error("there is one");
  const without = { ...config, mirrors: [{ ...mirror, name: "other", source: other }] };
  const inState = async (state: string) => (await rowsOf(world.journal))[0]?.state === state;
  {
    await using _live = await aDaemon(config);
    await until("uploaded", () => inState("uploaded"));
  }
  {
    await using _live = await aDaemon(without);
    await until("converted", () => inState("converted"));
  }
  expect(existsSync(file)).toBe(true);
  await using live = await aDaemon(config);
  await live.idle();
  expect(existsSync(file)).toBe(false);
  expect(await rowsOf(world.journal)).toMatchObject([{ state: "converted", after: "done" }]);
});
