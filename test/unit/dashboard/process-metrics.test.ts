import { expect, test } from "vitest";
import { processMetrics } from "../../../src/dashboard/metrics.ts";

test("the first scrape has nothing that was not measured", async () => {
  const lines = (await processMetrics()).split("\n").filter((line) => /^[^#]/.test(line));
  expect(lines.length).toBeGreaterThan(20);
  const odd = lines.filter(
    (line) => !(Number(line.split(" ").at(-1)) < 1e15) || / 9\.?2233/.test(line),
  );
  expect(odd).toEqual([]);
});
