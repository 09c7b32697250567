/** From the start with a tree that is known until a new file in it is being sent. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ArchiveSink } from "./archive-sink.ts";
import { type Case, check, median } from "./bench.ts";
import { journaledTree, type KnownTree } from "./known-tree.ts";
import { directoryOf } from "./tree.ts";

const LOOK_MS = 5;
/** Long beyond what a start takes. */
const PATIENCE_MS = 60_000;

export const start: Case = {
  name: "start",
  async run(bench) {
    const files = bench.quick ? 1_000 : 100_000;
    const tree = await journaledTree(bench, files);
    // One for all rounds: an archive without the documents of a round before would be another archive.
    await using sink = await ArchiveSink.open();
    tree.home.configure({ source: tree.root, archive: sink.url });
    const times: number[] = [];
    for (let round = 0; round < bench.rounds; round++) {
      times.push(await secondsOf(tree, sink, round));
    }
    bench.find({
      what: `start with ${files.toLocaleString("en")} known files until a new one is sent`,
      ours: "",
      beside: "",
      value: median(times),
      bound: { atMost: 2.5, unit: "s" },
    });
  },
};

/** The watch stands before the scan begins; the new file lies where the scan comes last. */
async function secondsOf(
  { home, root, spec }: KnownTree,
  sink: ArchiveSink,
  round: number,
): Promise<number> {
  const last = directoryOf(spec.directories - 1, spec.directories);
  writeFileSync(join(root, last, `new-${round}.bin`), `new ${round}`);
  const before = (await sink.report()).uploads;
  const begun = performance.now();
  await using daemon = home.run();
  await daemon.scanned(1);
  while ((await sink.report()).uploads === before) {
    check(performance.now() - begun < PATIENCE_MS, "the new file was not sent");
    await sleep(LOOK_MS);
  }
  const seconds = (performance.now() - begun) / 1_000;
  await daemon.end();
  return seconds;
}
