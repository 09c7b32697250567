/** How many requests it takes to follow documents until the archive has converted them. */
import { ArchiveSink } from "./archive-sink.ts";
import { type Case, check, medianBy } from "./bench.ts";
import { Home } from "./home.ts";
import { treeOf } from "./tree.ts";

/** Longer than sending takes: all of them are outstanding at a time. */
const CONVERT_MS = 15_000;

export const follow: Case = {
  name: "follow",
  async run(bench) {
    const files = bench.quick ? 300 : 10_000;
    const directories = files / 100;
    const source = treeOf(bench, { files, bytes: 20_000, directories });
    const home = new Home(bench, "follow");
    const rounds: { questions: number; seconds: number }[] = [];
    for (let round = 0; round < bench.rounds; round++) {
      await using sink = await ArchiveSink.open({ convertMs: bench.quick ? 2_000 : CONVERT_MS });
      home.forget();
      home.configure({ source, archive: sink.url });
      const { stdout, seconds } = await home.cost("sync");
      check(stdout.includes(`converted ${files},`), stdout);
      const { asked, uploads } = await sink.report();
      check(uploads === files, `${uploads} uploads of ${files} files`);
      const questions = Object.values(asked).reduce((sum, each) => sum + each, 0);
      rounds.push({ questions, seconds });
    }
    const { questions, seconds } = medianBy(rounds, (each) => each.questions);
    const count = files.toLocaleString("en");
    bench.find({
      what: `requests in addition to the uploads, ${count} documents in ${directories} folders`,
      ours: `${questions} requests, ${Math.round(seconds)} s`,
      beside: "",
      value: questions / files,
      bound: { atMost: 0.05, unit: "a document" },
    });
  },
};
