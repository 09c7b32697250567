import { writeFileSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { TopWatchers } from "../../../src/source/top-watchers.ts";
import { until } from "../../fixtures/until.ts";
import { put, scratch, settingsOf } from "./scratch.ts";

/** As with too many open files, or a source that is away for a moment. */
const blind = vi.hoisted(() => ({ is: false }));

vi.mock(import("../../../src/source/walk.ts"), async (original) => {
  const { listedIn, ...rest } = await original();
  return { ...rest, listedIn: (...of) => (blind.is ? undefined : listedIn(...of)) };
});

test.for([
  ["before", "it was opened"],
  ["after", "one came or went"],
] as const)("a source that cannot be listed %s %s is watched all the same", async ([when]) => {
  const dir = scratch();
  put(dir, "a/there.pdf");
  const told = { event: vi.fn(), appeared: vi.fn(), vanished: vi.fn(), failed: vi.fn() };
  const stop = new AbortController();
  const tops = new TopWatchers(settingsOf(dir), dir, told, stop.signal);
  onTestFinished(() => {
    stop.abort();
    return tops.close();
  });
  const isTold = (name: string) => told.event.mock.calls.some(([, about]) => about === name);
  blind.is = when === "before";
  await tops.open();
  blind.is = true;
  // Resolves once it has looked which top directories there are.
  await tops.open();
  writeFileSync(`${dir}/a/while-blind.pdf`, "");
  if (when === "after") await until("it to be watched still", () => isTold("while-blind.pdf"));
  blind.is = false;
  tops.retry(0);
  await until("it to be watched again", () => {
    writeFileSync(`${dir}/a/new.pdf`, "");
    return isTold("new.pdf");
  });
  expect(isTold("while-blind.pdf")).toBe(when === "after");
});
