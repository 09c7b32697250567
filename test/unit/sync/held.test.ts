import { FAILURES, type Failure } from "../../../src/domain/failure.ts";
import { Folders, Placement } from "../../../src/sync/folders.ts";
import { Held } from "../../../src/sync/held.ts";
import { retryOf } from "../../../src/sync/retry.ts";
import { unreachable } from "../../fakes/scripted-archive.ts";
import { expect, test } from "vitest";
import { HOUR, MINUTE, never, SECOND, SyncDesk } from "./desk.ts";

async function aWait(options: Parameters<typeof SyncDesk.open>[0] = {}) {
  const desk = await SyncDesk.open(options);
  const folders = new Folders(desk.archive);
  const held = new Held(desk.context, folders, new Placement(folders));
  return { desk, folders, held };
}

/** A row that waits for `targetPath`. */
function waiting(desk: SyncDesk, targetPath: string, code = "FOLDER_MISSING", mirrorId = 1) {
  const problem = { code, message: `${targetPath} is not there` };
  return desk.pending({ state: "held", dueAt: null, problem, targetPath, mirrorId });
}

test("a folder appears: all its documents go on, and one look served them all", async () => {
  const { desk, held } = await aWait();
  for (let n = 0; n < 700; n++) waiting(desk, "/2026");
  const other = waiting(desk, "/2027");
  await desk.run(held);
  // The root and its children: once, however many wait.
  expect(desk.archive.forgetAsked()).toBe(2);
  desk.archive.addFolder("2026");
  await desk.advance(5 * SECOND);
  expect(desk.archive.count()).toBe(2);
  const counts = await desk.journal.counts();
  expect(counts).toMatchObject([
    { state: "held", documents: 1 },
    { state: "pending", documents: 700 },
  ]);
  expect((await desk.row(other)).state).toBe("held");
});

test.for([
  ["FOLDER_MISSING", "it is there now"],
  ["FOLDER_TWINS", "one of the twins was renamed"],
  ["FOLDER_CASE", "it was renamed"],
  ["FOLDER_NOT_EXISTS", "it was made again"],
  ["INVALID_FOLDER_ID", "the tree knows it"],
  ["INVALID_FOLDER_PATH", "the tree knows it"],
] as const)("held by %s it goes on once the folder is usable, because %s", async ([code]) => {
  const { desk, held } = await aWait();
  const row = waiting(desk, "/2026", code);
  desk.archive.addFolder("2026");
  await desk.run(held);
  expect((await desk.row(row)).state).toBe("pending");
});

const HELD = Object.entries<Failure>(FAILURES).flatMap(([code, failure]) =>
  failure.fate === "hold" ? [[code, failure.fixedBy, failure.person] as const] : [],
);

test.for(HELD)(
  "what is held by %s goes on by %j or a person's word",
  async ([code, fixedBy, person]) => {
    expect(fixedBy.length > 0 || person !== undefined).toBe(true);
    const { desk, held } = await aWait();
    const problem = { code, message: "held" };
    const dueAt = fixedBy.includes("time") ? desk.clock.now() + MINUTE : null;
    const row = desk.pending({ state: "held", problem, targetPath: "/2026", dueAt });
    // A person, other content and what the archive has can be told of any document.
    expect(retryOf(row, desk.clock.now())).not.toEqual([]);
    if (fixedBy.includes("folder")) desk.archive.addFolder("2026");
    await desk.run(held);
    await desk.advance(2 * MINUTE);
    const isReleased = (await desk.row(row)).state !== "held";
    expect(isReleased).toBe(fixedBy.some((by) => ["folder", "rules", "time"].includes(by)));
  },
);

test("each mirror's own way with missing folders counts", async () => {
  const mirrors = [{}, { missingFolder: { kind: "nearest" } }] as const;
  const { desk, held } = await aWait({ mirrors });
  const patient = waiting(desk, "/2026");
  const easy = waiting(desk, "/2026", "FOLDER_MISSING", 2);
  await desk.run(held);
  expect((await desk.row(patient)).state).toBe("held");
  expect((await desk.row(easy)).state).toBe("pending");
});

test("a folder that is unusable for another reason by now: its documents say so", async () => {
  const { desk, held } = await aWait();
  const row = waiting(desk, "/2026");
  const other = waiting(desk, "/2027");
  desk.archive.addFolder("2026");
  desk.archive.addFolder("2026");
  await desk.run(held);
  expect((await desk.row(row)).problem).toMatchObject({
    code: "FOLDER_TWINS",
    message: expect.stringContaining("2 folders are named 2026"),
  });
  expect((await desk.row(other)).problem?.code).toBe("FOLDER_MISSING");
  expect(desk.states()).toEqual(["held", "held"]);
});

test("looks grow rarer while the folder stays away", async () => {
  const { desk, held } = await aWait();
  waiting(desk, "/2026");
  await desk.run(held);
  desk.archive.forgetAsked();
  const looks = [];
  for (let second = 1; second <= 260; second++) {
    await desk.advance(SECOND);
    if (desk.archive.forgetAsked() > 0) looks.push(second);
  }
  // Doubling from 5 s, then every minute.
  expect(looks).toEqual([5, 15, 35, 75, 135, 195, 255]);
});

test("the first to wait after a quiet time is looked after at once, not after a long interval", async () => {
  const { desk, held } = await aWait();
  await desk.run(held);
  await desk.advance(24 * HOUR + MINUTE);
  const row = waiting(desk, "/2026");
  desk.context.wakeups.held.notify();
  await desk.advance(SECOND);
  desk.archive.addFolder("2026");
  await desk.advance(15 * SECOND);
  expect((await desk.row(row)).state).toBe("pending");
});

test("a clock that is set back delays no look", async () => {
  const { desk, held } = await aWait();
  const row = waiting(desk, "/2026");
  await desk.run(held);
  desk.clock.jump(-24 * HOUR);
  desk.archive.addFolder("2026");
  await desk.advance(MINUTE);
  expect((await desk.row(row)).state).toBe("pending");
});

test("what waits of a mirror that is not ours has nobody forget where folders are", async () => {
  const { desk, folders, held } = await aWait();
  const theirs = await desk.journal.mirror("theirs", "/srv/theirs");
  waiting(desk, "/2026", "FOLDER_MISSING", theirs.id);
  desk.archive.addFolder("2027");
  await folders.resolve("/2027", never);
  desk.archive.forgetAsked();
  await desk.run(held);
  await desk.advance(10 * MINUTE);
  await folders.resolve("/2027", never);
  expect(desk.archive.count()).toBe(0);
});

test("a person who asks is not made to wait", async () => {
  const { desk, held } = await aWait();
  const row = waiting(desk, "/2026");
  await desk.run(held);
  await desk.advance(HOUR);
  desk.archive.addFolder("2026");
  held.recheck();
  await desk.advance(0);
  expect((await desk.row(row)).state).toBe("pending");
});

test("a folder the archive refuses although it lists it is not sent to without end", async () => {
  const { desk, held } = await aWait();
  desk.archive.addFolder("2026");
  const { id } = waiting(desk, "/2026", "INVALID_FOLDER_ID");
  await desk.run(held);
  let times = 0;
  for (let second = 0; second < 3_600; second++) {
    if ((await desk.row(id)).state === "pending") {
      times += 1;
      const problem = { code: "INVALID_FOLDER_ID", message: "refused again" };
      const event = { type: "heldBack", at: desk.clock.now(), dueAt: null, problem } as const;
      await desk.journal.apply([{ type: "event", id, event }]);
    }
    await desk.advance(SECOND);
  }
  expect(times).toBeGreaterThan(5);
  expect(times).toBeLessThan(65);
});

test("what waits for time goes on when it is over, where it was held", async () => {
  const { desk, held } = await aWait();
  const at = desk.clock.now() + MINUTE;
  const problem = { code: "FILE_UNREADABLE", message: "no right to read" };
  const rows = [
    desk.put({ state: "held", dueAt: at, problem, digest: null }),
    desk.put({ state: "held", dueAt: at, problem: { code: "ODD", message: "odd" } }),
    desk.put({ state: "held", dueAt: at, problem, doubtAt: desk.clock.now() }),
    desk.put({ state: "held", dueAt: null, problem: { code: "FILE_EMPTY", message: "empty" } }),
    desk.put({ state: "held", dueAt: null, problem: { code: "QUOTA_LIMIT", message: "used up" } }),
  ];
  await desk.run(held);
  await desk.advance(59 * SECOND);
  expect(desk.states()).toEqual(Array(5).fill("held"));
  await desk.advance(SECOND);
  expect(desk.states()).toEqual(["settling", "pending", "inDoubt", "held", "held"]);
  expect(rows).toHaveLength(5);
});

test("what came back lets go what waited for it, and nothing else", async () => {
  const { desk, held } = await aWait();
  const offline = { code: "SOURCE_OFFLINE", message: "not mounted" };
  for (let n = 0; n < 600; n++) desk.put({ state: "held", problem: offline, digest: null });
  const other = waiting(desk, "/2026");
  await held.release(["SOURCE_OFFLINE"]);
  expect(desk.states().filter((state) => state === "settling")).toHaveLength(600);
  expect((await desk.row(other)).state).toBe("held");
});

test("an archive that cannot be asked is asked again; nothing is let go meanwhile", async () => {
  const { desk, held } = await aWait();
  const row = waiting(desk, "/2026");
  desk.archive.addFolder("2026");
  desk.archive.fail("folder", unreachable(), unreachable());
  await desk.run(held);
  await desk.advance(5 * SECOND);
  expect((await desk.row(row)).state).toBe("held");
  await desk.advance(10 * SECOND);
  expect((await desk.row(row)).state).toBe("pending");
});

test("many that are to be moved or deleted, and cannot be just now, keep no other waiting", async () => {
  const { desk, held } = await aWait();
  const vetoed = { code: "VETOED", message: "not this one" };
  for (let n = 0; n < 700; n++)
    desk.pending({ state: "held", problem: vetoed, after: "due", dueAt: 1 });
  const problem = { code: "FILE_SIZE_ODD", message: "the archive knows why" };
  const row = desk.pending({ state: "held", problem, dueAt: desk.clock.now() + SECOND });
  await desk.run(held);
  await desk.advance(MINUTE);
  expect((await desk.row(row)).state).toBe("pending");
});
