/** A file that no reader survives, with real readers: anyone who opens it is killed, or stands still until it is. */
import { openSync, closeSync, ftruncateSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { childrenOf } from "../fixtures/a-process.ts";
import { aDaemon } from "../fixtures/a-daemon.ts";
import { audit, rowsOf } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { until } from "../fixtures/until.ts";
import { aWorld } from "../fixtures/world.ts";

/** Large enough to be caught in the hand of anyone who reads it; it takes no room. */
const DEADLY_BYTES = 24 * 2 ** 30;

/** Kills whichever of this process's readers holds the file open, and counts them. */
function killerOf(path: string): { readonly killed: Set<number> } {
  const killed = new Set<number>();
  const timer = setInterval(() => {
    for (const pid of childrenOf(process.pid)) {
      if (killed.has(pid) || !openFilesOf(pid).includes(path)) continue;
      killed.add(pid);
      process.kill(pid, "SIGKILL");
    }
  }, 20);
  onTestFinished(() => clearInterval(timer));
  return { killed };
}

function openFilesOf(pid: number): string[] {
  try {
    const dir = `/proc/${pid}/fd`;
    return readdirSync(dir).map((fd) => readlinkSync(join(dir, fd)));
  } catch {
    // It has ended, or closed one meanwhile.
    return [];
  }
}

test("a file that its readers die with is held after two of them, and stops no other", async () => {
  await using world = await aWorld();
  const deadly = join(world.source, "deadly.bin");
  world.write("before.pdf", pdfOf(1, { seed: 1 }));
  const fd = openSync(deadly, "w");
  ftruncateSync(fd, DEADLY_BYTES);
  closeSync(fd);
  const { killed } = killerOf(deadly);
  await using live = await aDaemon(world.config());
  const row = await until("it is held", async () =>
    (await rowsOf(world.journal)).find(
      ({ name, state }) => name === "deadly.bin" && state === "held",
    ),
  );
  expect(row.problem).toMatchObject({
    code: "FILE_UNREADABLE",
    message: expect.stringMatching(/twice in a row.*SIGKILL/),
  });
  expect(killed.size).toBe(2);
  const others = (await rowsOf(world.journal)).filter(({ name }) => name !== "deadly.bin");
  expect(others, "what else was in their hands").not.toContainEqual(
    expect.objectContaining({ state: "held" }),
  );
  world.write("after.pdf", pdfOf(1, { seed: 2 }));
  await until("the others are archived", async () => {
    const { documents } = await live.daemon.status();
    return documents.converted === 2;
  });
  expect(await audit(world, { ignored: /deadly/ })).toEqual([]);
});
