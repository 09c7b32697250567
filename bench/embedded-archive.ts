/**
 * What the embedded archive can take, on the disk of the current directory's TMPDIR:
 *
 *     npm run bench:archive
 *
 * Uploads a second with 1, 8 and 32 clients, on the disk and in memory; the memory of
 * the archive while 2 GiB stream in; listing and searching one million documents. Each figure is
 * the median of three. Where uploads are measured, the archive is a process of its own.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, tmpdir, totalmem, type } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { measureListing } from "./embedded-archive/million.ts";
import { streamIn, uploadMany } from "./embedded-archive/clients.ts";

/** Where waiting for the disk takes no time. */
const IN_MEMORY = "/dev/shm";

const ROUNDS = 3;
const ROUND_MS = 4_000;
const STREAM_BYTES = 2 * 1024 ** 3;

/** An archive in a process of its own, over a directory that goes with it. */
async function withArchive<T>(
  parent: string,
  use: (url: string, child: ChildProcess) => Promise<T>,
) {
  const dataDir = await mkdtemp(join(parent, "bench-archive-"));
  const archive = new URL("../src/embedded-archive/embedded-archive.ts", import.meta.url);
  const program = `import { EmbeddedArchive } from ${JSON.stringify(archive.href)};
    const archive = await EmbeddedArchive.open({ dataDir: ${JSON.stringify(dataDir)},
      listen: { host: "127.0.0.1", port: 0 }, convertDelayMs: 3600000 });
    console.log(archive.url);
    process.on("message", () => process.send(process.resourceUsage().maxRSS * 1024));`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  try {
    const [url] = (await once(createInterface(child.stdout as never), "line")) as [string];
    return await use(url, child);
  } finally {
    child.kill("SIGKILL");
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Peak resident memory of the process so far, bytes. */
async function peakOf(child: ChildProcess): Promise<number> {
  child.send("peak");
  const [bytes] = (await once(child, "message")) as [number];
  return bytes;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function medianOf(measure: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let round = 0; round < ROUNDS; round++) values.push(await measure());
  return median(values);
}

const mib = (bytes: number) => `${Math.round(bytes / 1024 ** 2)} MiB`;

async function uploads(): Promise<void> {
  console.log(
    "\n| file | clients | on the disk, uploads/s | in memory, uploads/s |\n|---|---|---|---|",
  );
  for (const bytes of [20_000, 300_000])
    for (const clients of [1, 8, 32]) {
      const rate = (parent: string) =>
        medianOf(() =>
          withArchive(parent, (url) => uploadMany({ url, bytes, clients, ms: ROUND_MS })),
        );
      const [kept, loose] = [await rate(tmpdir()), await rate(IN_MEMORY)];
      console.log(
        `| ${bytes / 1000} KB | ${clients} | ${Math.round(kept)} | ${Math.round(loose)} |`,
      );
    }
}

async function stream(): Promise<void> {
  const peaks: number[] = [];
  const seconds = await medianOf(() =>
    withArchive(tmpdir(), async (url, child) => {
      const before = await peakOf(child);
      const took = await streamIn(url, STREAM_BYTES);
      peaks.push((await peakOf(child)) - before);
      return took / 1000;
    }),
  );
  const rate = mib(STREAM_BYTES / seconds);
  console.log(
    `\n2 GiB streamed in: ${seconds.toFixed(1)} s (${rate}/s), peak memory + ${mib(median(peaks))}`,
  );
}

async function million(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), "bench-archive-"));
  try {
    const { filledMs, bytes, rows } = await measureListing(dataDir, 1_000_000, ROUNDS, median);
    console.log(
      `\n1,000,000 documents: filled in ${Math.round(filledMs / 1000)} s, database ${mib(bytes)}`,
    );
    console.log("\n| question | ms |\n|---|---|");
    for (const { question, ms } of rows) console.log(`| ${question} | ${ms.toFixed(1)} |`);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

const wanted = process.argv.slice(2);
const [cpu] = cpus();
console.log(
  `${cpu?.model ?? "?"} x ${cpus().length}, ${mib(totalmem())}, ${type()}, Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}`,
);
for (const [name, run] of Object.entries({ uploads, stream, million }))
  if (wanted.length === 0 || wanted.includes(name)) await run();
