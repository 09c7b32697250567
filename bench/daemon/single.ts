/** One file: what starting costs. And files that are no whole PDFs, next to as many that are. */
import { randomBytes } from "node:crypto";
import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writePdf } from "../../test/fixtures/pdf-writer.ts";
import { ArchiveSink } from "./archive-sink.ts";
import { type Bench, type Case, check, inTurns, medianBy, median, rounded } from "./bench.ts";
import { Home } from "./home.ts";
import { treeOf } from "./tree.ts";

/** Runs in a round: a second each would tell of one moment. */
const CALLS = 5;
/** Long finished: 2001. */
const MODIFIED_S = 1_000_000_000;

export const single: Case = {
  name: "single",
  async run(bench) {
    const source = treeOf(bench, { files: 1, bytes: 20_000, directories: 1 });
    const home = new Home(bench, "single");
    const runs: { sent: number; ended: number }[] = [];
    for (let call = 0; call < (bench.quick ? 1 : CALLS) * bench.rounds; call++)
      runs.push(await runOf(home, source));
    const found = (what: string, value: number, atMost: number) =>
      bench.find({ what, ours: "", beside: "", value, bound: { atMost, unit: "s" } });
    found(
      "`sync` of one file, start until the request arrives",
      median(runs.map(({ sent }) => sent)),
      0.6,
    );
    found("`sync` of one file, start to end", median(runs.map(({ ended }) => ended)), 0.9);
    await odd(bench);
  },
};

async function runOf(home: Home, source: string) {
  await using sink = await ArchiveSink.open();
  home.forget();
  home.configure({ source, archive: sink.url });
  const begun = Date.now();
  const { seconds } = await home.cost("sync");
  const { arrivals } = await sink.report(true);
  const at = arrivals[0]?.[1];
  check(arrivals.length === 1 && at !== undefined, `${arrivals.length} uploads of one file`);
  return { sent: (at - begun) / 1_000, ended: seconds };
}

/** `plan` looks whether each is whole, and counts its pages. */
async function odd(bench: Bench) {
  const files = bench.quick ? 50 : 5_000;
  const content = () => `BT /Body 12 Tf (${randomBytes(1_200).toString("hex")}) Tj ET`;
  const whole = treeWith(bench, "whole", files, () => writePdf([{ content: content() }], {}, ""));
  const damaged = treeWith(bench, "damaged", files, () =>
    Buffer.concat([Buffer.from("%PDF-1.4\n"), randomBytes(3_000), Buffer.from("\n%%EOF\n")]),
  );
  await using sink = await ArchiveSink.open();
  const home = new Home(bench, "odd");
  const planned = (source: string) => () => {
    home.forget();
    home.configure({ source, archive: sink.url });
    return home.cost("plan", "--json");
  };
  const [some = [], others = []] = await inTurns(bench.rounds, [planned(damaged), planned(whole)]);
  const [ours, theirs] = [some, others].map(
    (all) => medianBy(all, ({ cpuSeconds }) => cpuSeconds).cpuSeconds,
  );
  bench.find({
    what: `\`plan\` of ${files.toLocaleString("en")} damaged PDFs, processor time`,
    ours: `${rounded(ours ?? NaN)} s`,
    beside: `as many whole ones ${rounded(theirs ?? NaN)} s`,
    value: (ours ?? NaN) / (theirs ?? NaN),
    bound: { atMost: 2, unit: "×" },
  });
}

function treeWith(bench: Bench, name: string, files: number, make: () => Buffer): string {
  const root = bench.place("trees", name);
  for (let index = 0; index < files; index++) {
    const path = join(root, `scan-${index}.pdf`);
    writeFileSync(path, make());
    utimesSync(path, MODIFIED_S, MODIFIED_S);
  }
  return root;
}
