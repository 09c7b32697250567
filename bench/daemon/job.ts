/**
 * The whole job: scan, hash, journal, send, outcome; next to `curl --parallel`, which is told every
 * path beforehand, hashes and journals nothing, and sends the same bytes to the same sink.
 */
import { createHash } from "node:crypto";
import { createReadStream, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { ArchiveSink, type SinkOptions } from "./archive-sink.ts";
import { type Bench, type Case, check, inTurns, medianBy, rounded } from "./bench.ts";
import { type Cost, costOf } from "./cost.ts";
import { Home } from "./home.ts";
import { directoryOf, pathOf, type TreeSpec, treeOf } from "./tree.ts";

/** A tree that is sent, and how near to curl that is to come. */
export type Job = {
  readonly what: string;
  readonly tree: TreeSpec;
  readonly concurrency: number;
  readonly latencyMs?: number;
  readonly atLeast: number;
};

/** A run, and the share of its time in which the sink's processor time was idle. */
export type Sent = Cost & { readonly sinkIdle: number };

const SAMPLE_EVERY = 100;

export const job: Case = {
  name: "job",
  async run(bench) {
    for (const each of jobsOf(bench.quick)) await beside(bench, each);
  },
};

/** All that the bench sends next to curl. */
export function jobsOf(quick: boolean): Job[] {
  const MB = 1_000_000;
  const of = (
    files: number,
    bytes: number,
    concurrency: number,
    what: string,
    atLeast = 0.35,
  ): Job => ({
    what: `${what}, ${concurrency} at once`,
    tree: { files, bytes, directories: 100 },
    concurrency,
    atLeast,
  });
  if (quick) {
    return [
      of(200, 20_000, 8, "200 × 20 KB"),
      of(50, 300_000, 8, "50 × 300 KB"),
      of(4, 10 * MB, 4, "4 × 10 MB", 0.45),
      of(1, 2 ** 27, 1, "1 × 128 MiB", 0.45),
      { ...of(200, 20_000, 64, "200 × 20 KB, 20 ms latency"), latencyMs: 20, atLeast: 0.7 },
    ];
  }
  return [
    of(10_000, 20_000, 8, "10,000 × 20 KB"),
    of(2_000, 300_000, 8, "2,000 × 300 KB"),
    of(20, 100 * MB, 4, "20 × 100 MB", 0.45),
    of(1, 2 ** 31, 1, "1 × 2 GiB", 0.45),
    { ...of(10_000, 20_000, 64, "10,000 × 20 KB, 20 ms latency"), latencyMs: 20, atLeast: 0.7 },
  ];
}

async function beside(bench: Bench, each: Job) {
  const { what, tree, concurrency, latencyMs = 0, atLeast } = each;
  const root = treeOf(bench, tree);
  const home = new Home(bench, "job");
  const options = { latencyMs };
  await assertSame(home, root, tree, concurrency);
  if (!bench.has("curl")) return;
  const [curls = [], ours = []] = await inTurns(bench.rounds, [
    () => sentTo(options, tree, (url) => curl(each, url, root, home.dir)),
    () => sentTo(options, tree, (url) => carry(home, url, root, concurrency)),
  ]);
  const [theirs, own] = [medianBy(curls, wall), medianBy(ours, wall)];
  bench.find({
    what,
    ours: shown(own, tree),
    beside: `curl ${rounded(theirs.seconds)} s, CPU ${rounded(theirs.cpuSeconds)} s`,
    value: theirs.seconds / own.seconds,
    bound: { atLeast, unit: "×" },
  });
  const idle = (sent: Sent) => `${Math.round(100 * sent.sinkIdle)} %`;
  bench.note(`${what}: the sink was idle for ${idle(own)} of the time (with curl ${idle(theirs)})`);
  if (tree.files === 1) await flatMemory(bench, home, tree, own.peakBytes);
}

export const wall = ({ seconds }: Cost) => seconds;

/** One run of curl with all of a tree; what it is told is written to `dir`. */
export function curl(
  { tree, concurrency }: Job,
  url: string,
  root: string,
  dir: string,
): Promise<Cost> {
  const config = join(dir, "curl.cfg");
  writeFileSync(config, curlConfig(url, root, tree));
  const words = ["-s", "-S", "--parallel", "--parallel-immediate"];
  return costOf("curl", [...words, "--parallel-max", String(concurrency), "-K", config]);
}

/** What was sent in which time, with units. */
export function shown({ seconds, cpuSeconds }: Cost, { files, bytes }: TreeSpec): string {
  const speed =
    bytes < 1_000_000
      ? `${Math.round(files / seconds)} files/s`
      : `${Math.round((files * bytes) / 1e6 / seconds)} MB/s`;
  return `${rounded(seconds)} s, ${speed}, CPU ${rounded(cpuSeconds)} s`;
}

/** Lets `send` send a tree to a sink of its own. @throws `WrongResult` unless all of it arrived once */
export async function sentTo(
  options: SinkOptions,
  { files, bytes }: TreeSpec,
  send: (url: string) => Promise<Cost>,
): Promise<Sent> {
  await using sink = await ArchiveSink.open(options);
  const before = await sink.report();
  const cost = await send(sink.url);
  const after = await sink.report();
  check(after.uploads === files, `${after.uploads} uploads of ${files} files`);
  check(after.bytes >= files * bytes, `${after.bytes} bytes of ${files} × ${bytes}`);
  const busy = (after.cpuMs - before.cpuMs) / 1_000 / cost.seconds;
  return { ...cost, sinkIdle: Math.max(0, 1 - busy) };
}

/** One pass of scanferry with an empty journal. */
export function carry(home: Home, url: string, source: string, concurrency: number): Promise<Cost> {
  home.forget();
  home.configure({ source, archive: url, concurrency });
  return home.cost("sync", "--no-wait");
}

/** Before the clock runs: what arrives is what lies on the disk, and what the journal says. */
async function assertSame(home: Home, root: string, tree: TreeSpec, concurrency: number) {
  const sample = Math.min(SAMPLE_EVERY, Math.ceil(tree.files / 10));
  await using sink = await ArchiveSink.open({ sample });
  await carry(home, sink.url, root, concurrency);
  const { digests, uploads } = await sink.report();
  check(uploads === tree.files, `${uploads} uploads of ${tree.files} files`);
  const listed = (await home.cost("list", "--json")).stdout.trim().split("\n");
  const journaled = new Map(
    listed.map((line) => {
      const { path, sha256 } = JSON.parse(line) as { path: string; sha256: string };
      return [path, sha256];
    }),
  );
  const sampled = Object.entries(digests);
  check(sampled.length === Math.ceil(tree.files / sample), `${sampled.length} samples`);
  for (const [filename, digest] of sampled) {
    const path = pathOf(Number(/\d+/.exec(filename)?.[0]), tree.directories);
    const hash = createHash("sha256");
    await pipeline(createReadStream(join(root, path)), hash);
    check(hash.digest("hex") === digest, `${path} arrived with other bytes`);
    check(journaled.get(path) === digest, `${path} is journaled with another digest`);
  }
}

/** All requests in one file, which curl has at hand from the start. */
function curlConfig(url: string, root: string, { files, directories }: TreeSpec): string {
  const requests = Array.from({ length: files }, (_, index) => {
    const folderId = 2 + Number(directoryOf(index, directories).slice(1));
    return `url = "${url}/api/v0_4/document/upload.html"
output = /dev/null
form = "folderId=${folderId}"
form = "batch=aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
form = "acc_key=demo"
form = "sig=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa="
form = "file=@${root}/${pathOf(index, directories)};type=application/octet-stream"
`;
  });
  return requests.join("next\n");
}

/** The peak while a large file is sent, next to that of the same pass with a tiny one. */
async function flatMemory(bench: Bench, home: Home, large: TreeSpec, peakBytes: number) {
  const tree = { files: 1, bytes: 20_000, directories: 1 };
  const root = treeOf(bench, tree);
  const small = await sentTo({}, tree, (url) => carry(home, url, root, 1));
  const mib = (bytes: number) => bytes / 2 ** 20;
  bench.find({
    what: `memory while ${mib(large.bytes)} MiB are sent, beyond that with 20 KB`,
    ours: `peak ${rounded(mib(peakBytes))} MiB`,
    beside: `20 KB: ${rounded(mib(small.peakBytes))} MiB`,
    value: mib(peakBytes - small.peakBytes),
    bound: { atMost: 50, unit: "MiB" },
  });
}
