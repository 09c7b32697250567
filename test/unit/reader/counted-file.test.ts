import { expect, test } from "vitest";
import { countedFile } from "../../../src/reader/send.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";

test("a file that leaves in chunks is counted now and then; its chunks and its end stay the same", async () => {
  const clock = new ManualClock();
  const counts: number[] = [];
  let isClosed = false;
  const chunks = async function* () {
    try {
      for (let n = 0; n < 10; n++) yield Buffer.alloc(100, n);
    } finally {
      isClosed = true;
    }
  };
  const file = countedFile({ sizeBytes: 1_000, chunks }, (bytes) => counts.push(bytes), clock);
  if (!("chunks" in file)) throw new Error("it leaves in one piece");
  const seen: number[] = [];
  for await (const chunk of file.chunks()) {
    seen.push(chunk[0] ?? -1);
    await clock.advance(100);
    if (seen.length === 8) break;
  }
  expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(counts).toEqual([300, 600]);
  expect(isClosed, "a request that is torn down closes the file").toBe(true);
});
