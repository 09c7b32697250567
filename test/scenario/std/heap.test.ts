import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { NO_INSPECTOR, THRIFTY_HEAP, THRIFTY_MALLOC } from "../../../src/std/heap.ts";

describe.each(["bin/scanferry", "Dockerfile"])(
  "%s starts the daemon as readers are started",
  (name) => {
    const text = readFileSync(new URL(`../../../${name}`, import.meta.url), "utf8");

    test.each([NO_INSPECTOR, ...THRIFTY_HEAP])("Node's %s", (option) => {
      expect(text).toContain(option);
    });

    test.each(Object.entries(THRIFTY_MALLOC))("the environment's %s, %s", (key, value) => {
      expect(text).toMatch(new RegExp(`${key}=("\\$\\{${key}-)?${value}\\b`));
    });
  },
);

/** Replaces a third of a million objects twenty times; says how large the heap became, MiB. */
const CHURN = `
  const alive = [];
  let peak = 0;
  for (let turn = 0; turn < 20; turn++) {
    for (let at = 0; at < 300_000; at++) alive[at] = { at, text: "x" + at + turn };
    peak = Math.max(peak, process.memoryUsage().heapTotal);
  }
  console.log(peak / 2 ** 20);
`;

test("a heap that grows slowly stays small", async () => {
  const heap = new URL("../../../src/std/heap.ts", import.meta.url).href;
  const slowly = `(await import("${heap}")).growSlowly();`;
  const [fast, slow] = await Promise.all([peakOf(CHURN), peakOf(slowly + CHURN)]);
  expect(slow).toBeLessThan(0.8 * fast);
});

async function peakOf(script: string): Promise<number> {
  const args = [...THRIFTY_HEAP, "--input-type=module", "--eval", script];
  return Number((await promisify(execFile)(process.execPath, args)).stdout);
}
