import { Writable } from "node:stream";
import { expect, test } from "vitest";
import type { PlanLine } from "../../../src/cli/plan/plan-line.ts";
import { PlanJson, PlanText } from "../../../src/cli/plan/plan-output.ts";
import { Terminal } from "../../../src/cli/terminal.ts";
import { raw } from "../source/scratch.ts";

/** A stream that takes what is written a turn later, and all of it so far. */
function slowly() {
  let text = "";
  const stream = new Writable({
    write(chunk, _, taken) {
      text += String(chunk);
      setImmediate(taken);
    },
  });
  return { out: new Terminal(stream, {}), text: () => text };
}

const lineOf = (name: string): PlanLine => ({
  mirror: "scans",
  path: raw(name),
  action: "send",
  target: "/Scans",
  folderId: 2,
  folder: null,
  sentName: name,
  pages: 1,
  sizeBytes: 3,
  digest: null,
  trouble: null,
  remark: null,
  rule: null,
  metadata: { title: { value: `of ${name}`, from: "path" } },
  expires: null,
});

const names = ["a.pdf", "b.pdf", "c.pdf"];
const totals = { send: 3, pages: 3, pagesUnknown: 0, bytes: 9, hold: 0, wait: 0, skip: 0 };

test("lines that come at the same time are one JSON object", async () => {
  const { out, text } = slowly();
  const plan = new PlanJson(out);
  await plan.begin();
  await Promise.all(names.map((name) => plan.line(lineOf(name))));
  await plan.end([], new Map(), { totals, stopped: null, pagesLeft: null });
  const { documents } = JSON.parse(text()) as { documents: { path: string }[] };
  expect(documents.map(({ path }) => path)).toEqual(names);
});

test("what goes with a document stands below it", async () => {
  const { out, text } = slowly();
  const plan = new PlanText(out);
  await Promise.all(names.map((name) => plan.line(lineOf(name))));
  const told = [...text().matchAll(/ (?:of )?([abc]\.pdf)/g)].map(([, name]) => name);
  expect(told).toEqual(["a.pdf", "a.pdf", "b.pdf", "b.pdf", "c.pdf", "c.pdf"]);
});
