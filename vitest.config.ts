import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Scenarios mostly wait: for files to settle, for replies, for processes.
    maxWorkers: 4,
  },
});
