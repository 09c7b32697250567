import { expect, test } from "vitest";
import { problemsOf } from "../../../src/report/problems.ts";
import { Desk } from "../../contract/journal-desk.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";

test("a problem a state and code, the commonest first; what is on its way and other mirrors' are none", async () => {
  const journal = new MemoryJournal();
  const desk = await Desk.at(journal);
  await desk.held("a.pdf", "FILE_EMPTY");
  await desk.held("b.pdf", "SIDECAR_MISSING");
  await desk.held("c.pdf", "SIDECAR_MISSING");
  await desk.add("well.pdf");
  const [mirror] = await journal.mirrors();
  const config = { mirrors: [{ name: mirror?.name ?? "" }] };
  expect(await problemsOf(journal, config)).toMatchObject([
    { state: "held", code: "SIDECAR_MISSING", documents: 2, first: { path: "b.pdf" } },
    { state: "held", code: "FILE_EMPTY", documents: 1, first: { path: "a.pdf" } },
  ]);
  expect(await problemsOf(journal, { mirrors: [] })).toEqual([]);
});
