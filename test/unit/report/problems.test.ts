import { expect, test } from "vitest";
import { problemsOf } from "../../../src/report/problems.ts";
import { Desk, NOW } from "../../contract/journal-desk.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";

async function configOf(journal: MemoryJournal) {
  const rows = await journal.mirrors();
  return { mirrors: rows.map(({ name, source }) => ({ name, source, archive: "main" })) };
}

test("a problem a state and code, the commonest first; what is on its way and other mirrors' are none", async () => {
  const journal = new MemoryJournal();
  const desk = await Desk.at(journal);
  await desk.held("a.pdf", "FILE_EMPTY");
  await desk.held("b.pdf", "SIDECAR_MISSING");
  await desk.held("c.pdf", "SIDECAR_MISSING");
  await desk.add("well.pdf");
  const config = await configOf(journal);
  expect(await problemsOf(journal, config)).toMatchObject([
    { state: "held", code: "SIDECAR_MISSING", documents: 2, first: { path: "b.pdf" } },
    { state: "held", code: "FILE_EMPTY", documents: 1, first: { path: "a.pdf" } },
  ]);
  expect(await problemsOf(journal, { mirrors: [] })).toEqual([]);
});

test("of unfinished files with different reasons, none is reported with the reason of another", async () => {
  const journal = new MemoryJournal();
  const desk = await Desk.at(journal);
  const config = await configOf(journal);
  const unfinished = async (path: string, message: string) => {
    const { id } = await desk.add(path);
    const problem = { code: "FILE_UNFINISHED", message };
    await desk.after(id, { type: "unfinished", at: NOW, dueAt: NOW, problem });
  };
  await unfinished("a.pdf", "looks unfinished: it is empty");
  await unfinished("b.pdf", "looks unfinished: it is empty");
  const same = { paths: ["a.pdf", "b.pdf"], message: "looks unfinished: it is empty" };
  expect(await problemsOf(journal, config)).toMatchObject([same]);
  await unfinished("c.pdf", "looks unfinished: its end mark %%EOF is missing");
  const all = { paths: ["a.pdf", "b.pdf", "c.pdf"], message: "look unfinished" };
  expect(await problemsOf(journal, config)).toMatchObject([all]);
});
