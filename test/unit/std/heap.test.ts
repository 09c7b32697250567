import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { THRIFTY_HEAP, THRIFTY_MALLOC } from "../../../src/std/heap.ts";

describe.each(["bin/scanferry", "Dockerfile"])(
  "%s starts the daemon as readers are started",
  (name) => {
    const text = readFileSync(new URL(`../../../${name}`, import.meta.url), "utf8");

    test.each(THRIFTY_HEAP)("V8's %s", (option) => {
      expect(text).toContain(option);
    });

    test.each(Object.entries(THRIFTY_MALLOC))("the environment's %s, %s", (key, value) => {
      expect(text).toMatch(new RegExp(`${key}=("\\$\\{${key}-)?${value}\\b`));
    });
  },
);
