import { defineConfig } from "vitest/config";

/** The quick tests that judge mutants of the files that decide; see stryker.config.json. */
export default defineConfig({
  test: {
    // One worker for all: thousands of short runs.
    isolate: false,
    // They take milliseconds, and more only where the machine stands still.
    testTimeout: 60_000,
    include: [
      "test/unit/domain/*.test.ts",
      "test/unit/sync/doubts.test.ts",
      "test/unit/sync/account-gate.test.ts",
    ],
    // Changes the time zone, which no thread can, and judges none of those files.
    exclude: ["test/unit/domain/hours.test.ts"],
  },
});
