/** Small files are looked at in groups of 64; while more is ready than can leave, each is followed by a rest. */
import { expect, test } from "vitest";
import { aSettler, settling } from "./a-settler.ts";

/** Two groups that are due, and a journal that takes its time to write. */
async function twoGroups(journalMs: number) {
  const stream = {
    isSupplied: true,
    counted: 0,
    ready(documents: number) {
      this.counted += documents;
    },
  };
  const { desk, settler } = await aSettler(
    { mirrors: [{ name: "a" }, { name: "b" }] },
    undefined,
    stream,
  );
  for (let index = 0; index < 100; index++) settling(desk, `${index}.bin`, `d${index}`);
  const apply = desk.journal.apply.bind(desk.journal);
  desk.journal.apply = async (changes) => {
    const applied = await apply(changes);
    await desk.clock.pass(journalMs);
    return applied;
  };
  await desk.run(settler);
  await desk.advance(journalMs);
  expect(desk.reader.inspected).toHaveLength(64);
  return { desk, stream };
}

test("what became ready is told", async () => {
  const { desk, stream } = await twoGroups(20);
  expect(stream.counted).toBe(64);
  await desk.advance(1_000);
  expect(stream.counted).toBe(100);
});

test.for([
  [20, 60, "three times as long as the group took"],
  [500, 250, "but no longer: a slow disk needs no processor"],
] as const)("after %i ms it rests for %i: %s", async ([journalMs, restMs]) => {
  const { desk } = await twoGroups(journalMs);
  await desk.advance(restMs - 1);
  expect(desk.reader.inspected).toHaveLength(64);
  await desk.advance(1);
  expect(desk.reader.inspected).toHaveLength(100);
});

test("it ends its rest when what is ready is about to run out", async () => {
  const { desk, stream } = await twoGroups(20);
  await desk.advance(15);
  stream.isSupplied = false;
  await desk.advance(5);
  expect(desk.reader.inspected).toHaveLength(100);
});

test("nothing that is seen meanwhile shortens it", async () => {
  const { desk } = await twoGroups(20);
  desk.mirror(1).settling.small.ring();
  await desk.advance(30);
  desk.mirror(1).settling.small.ring();
  desk.mirror(2).settling.small.ring();
  await desk.advance(29);
  expect(desk.reader.inspected).toHaveLength(64);
});
