/** Questions to a large journal, each a command from its start to its end. */
import Database from "better-sqlite3";
import { type Bench, type Case, check, median } from "./bench.ts";
import { type KnownTree, journaledTree } from "./known-tree.ts";

/** One row of that many has failed. */
const FAILED_EVERY = 10_000;

/** Calls of a round: three of a fifth of a second each would tell of one moment. */
const CALLS = 9;

export const status: Case = {
  name: "status",
  async run(bench) {
    const files = bench.quick ? 10_000 : 1_000_000;
    const tree = await journaledTree(bench, files);
    moveOn(tree);
    const failed = files / FAILED_EVERY;
    await ask(bench, tree, ["status"], (text) => text.includes("converted"));
    await ask(bench, tree, ["list", "--state", "failed", "--json"], (text) => {
      return text.trim().split("\n").length === failed;
    });
  },
};

/** As after a long time: nearly all CONVERTED, some failed. Written past the journal's own door, which takes minutes. */
function moveOn({ home }: KnownTree): void {
  const db = new Database(home.journal);
  const sent = `digest = printf('%064x', id), sent_name = CAST(name AS TEXT), folder_id = 2,
    batch = 'bench', attempts = 1, due_at = NULL`;
  db.exec(`UPDATE documents SET state = 'converted', document_id = id, ${sent},
      uploaded_at = first_seen_at, converted_at = first_seen_at, pages = 1, archive_bytes = 16
      WHERE id % ${FAILED_EVERY} <> 0;
    UPDATE documents SET state = 'failed', problem_code = 'FILE_CORRUPT',
      problem_message = 'refused', ${sent} WHERE id % ${FAILED_EVERY} = 0;`);
  db.close();
}

async function ask(
  bench: Bench,
  { home, spec }: KnownTree,
  words: string[],
  isRight: (text: string) => boolean,
): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < bench.rounds; round++) {
    const calls: number[] = [];
    for (let call = 0; call < (bench.quick ? 1 : CALLS); call++) {
      const { seconds, stdout } = await home.cost(...words);
      check(isRight(stdout), `${words.join(" ")} says ${stdout.slice(0, 500)}`);
      calls.push(seconds * 1_000);
    }
    times.push(median(calls));
  }
  bench.find({
    what: `\`${words.join(" ")}\`, ${spec.files.toLocaleString("en")} rows`,
    ours: "",
    beside: "",
    value: median(times),
    bound: { atMost: 200, unit: "ms" },
  });
}
