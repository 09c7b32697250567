/** From the start of a daemon until a tree of tiny files is journaled, and until all of them are ready to be sent. */
import Database from "better-sqlite3";
import { setTimeout as sleep } from "node:timers/promises";
import { type Bench, type Case, check, inTurns, median, rounded } from "./bench.ts";
import { costOf } from "./cost.ts";
import { Home } from "./home.ts";
import { treeOf } from "./tree.ts";

const LOOK_MS = 50;
/** Long beyond what a hundred thousand files take. */
const PATIENCE_MS = 300_000;

/** Seconds since the daemon's start. */
type Drop = { readonly journaled: number; readonly pending: number };

export const drop: Case = {
  name: "drop",
  async run(bench) {
    const files = bench.quick ? 500 : 100_000;
    const root = treeOf(bench, { files, bytes: 300, directories: 200 });
    const find = () => costOf("find", [root, "-printf", "%i %s %T@\\n"]);
    await find();
    const [finds = [], drops = []] = await inTurns<number | Drop>(bench.rounds, [
      async () => (await find()).seconds,
      () => dropOf(bench, root, files),
    ]);
    const theirs = median(finds as number[]);
    for (const [what, atMost] of [
      ["journaled", 12],
      ["pending", 45],
    ] as const) {
      const seconds = median((drops as Drop[]).map((each) => each[what]));
      bench.find({
        what: `start until ${files.toLocaleString("en")} × 300 bytes are ${what}`,
        ours: `${rounded(seconds)} s`,
        beside: `\`find -printf\` ${rounded(theirs)} s`,
        value: seconds / theirs,
        bound: { atMost, unit: "×" },
      });
    }
  },
};

async function dropOf(bench: Bench, source: string, files: number): Promise<Drop> {
  const home = new Home(bench, "drop");
  home.forget();
  home.configure({ source });
  await home.cost("pause");
  const begun = performance.now();
  const since = () => (performance.now() - begun) / 1_000;
  await using daemon = home.run();
  await daemon.scanned(1);
  const journaled = since();
  const db = new Database(home.journal, { readonly: true });
  const waiting = db.prepare("SELECT count(*) FROM documents WHERE state = 'settling'").pluck();
  while (waiting.get() !== 0) {
    check(since() * 1_000 < PATIENCE_MS, "not all files became ready");
    await sleep(LOOK_MS);
  }
  const pending = since();
  const found = db.prepare("SELECT count(*) FROM documents WHERE state = 'pending'").pluck().get();
  db.close();
  check(found === files, `${String(found)} of ${files} files are pending`);
  await daemon.end();
  return { journaled, pending };
}
