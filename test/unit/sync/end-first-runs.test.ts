/** What becomes of files that a first run held, once a user has compared them with the archive. */
import { expect, test } from "vitest";
import { AS_NEW } from "../../../src/domain/adopt.ts";
import { endFirstRuns } from "../../../src/sync/adopter.ts";
import { rawOfText } from "../../../src/std/raw-path.ts";
import { SyncDesk } from "./desk.ts";

const digest = "ab".repeat(32);
const problem = { code: "FIRST_RUN", message: "the archive holds a.pdf in that folder already" };

test.for([
  [[], [], true, "pending", null, true, "all were compared, and nothing is unclear"],
  [[], [], false, "pending", AS_NEW, false, "a folder was not read: others may be in there"],
  [
    [],
    ["settling"],
    true,
    "pending",
    AS_NEW,
    false,
    "another one is not finished: this one is new",
  ],
  [
    ["other"],
    [],
    true,
    "pending",
    null,
    false,
    "another one is unclear: the guard looks at this one again",
  ],
  [["this"], [], true, "held", null, false, "a user has to tell it apart"],
] as const)("# %#: %s unclear, %s besides, read: %s: %s, because %6$s", async (line) => {
  const [unclear, besides, isRead, state, remark, isOver] = line;
  const desk = await SyncDesk.open({ mirrors: [{ firstRun: "hold" }] });
  const row = desk.put({
    state: "held",
    name: rawOfText("a.pdf"),
    sentName: "a.pdf",
    digest,
    problem,
  });
  const other = desk.put({
    state: "held",
    name: rawOfText("b.pdf"),
    sentName: "b.pdf",
    digest,
    problem,
  });
  for (const each of besides) desk.put({ state: each, name: rawOfText("c.pdf"), dueAt: 1 });
  const ids = unclear.map((which) => (which === "this" ? row.id : other.id));
  const mirrors = new Set([row.mirrorId]);
  await endFirstRuns(desk.context, mirrors, new Set(ids), isRead ? mirrors : new Set());
  expect(await desk.journal.document(row.id)).toMatchObject({ state, remark });
  expect((await desk.journal.firstRuns()).length === 0).toBe(isOver);
});

test.for(["pending", "held"] as const)(
  "what is %s with the content of a claimed file may be that file: it is looked at again",
  async (state) => {
    const desk = await SyncDesk.open({ mirrors: [{ firstRun: "hold" }, { firstRun: "hold" }] });
    const [first = 0, second = 0] = desk.context.mirrors.keys();
    const sentName = "a.pdf";
    const name = rawOfText(sentName);
    desk.put({ mirrorId: first, state: "uploaded", name, sentName, digest, documentId: 17 });
    const wait = state === "held" ? { problem } : {};
    const row = desk.put({ mirrorId: second, state, name, sentName, digest, ...wait });
    const other = { name: rawOfText("b.pdf"), sentName: "b.pdf", digest: "cd".repeat(32) };
    const fresh = desk.put({ mirrorId: second, state, ...other, ...wait });
    const mirrors = new Set([first, second]);
    await endFirstRuns(desk.context, mirrors, new Set(), mirrors);
    expect(await desk.journal.document(row.id)).toMatchObject({ state: "settling" });
    expect(await desk.journal.document(fresh.id)).toMatchObject({ state: "pending" });
  },
);
