import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [
    {
      // Readers of daemons that live in a test's process: see scripts/fresh-build.ts.
      name: "built-readers",
      transform: (code, id) =>
        id.endsWith("/src/reader/fork-reader.ts")
          ? code.replaceAll(
              "import.meta.url",
              JSON.stringify(new URL("dist/reader/fork-reader.js", import.meta.url).href),
            )
          : null,
    },
  ],
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "scripts/fresh-build.ts",
    // What hangs is told of late, and what is slow because the machine is does not fail.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // What is waited for comes, however busy the machine is; a hang is told by the time of the test.
    expect: { poll: { timeout: 100_000 } },
    // Scenarios mostly wait: for files to settle, for replies, for processes.
    maxWorkers: 5,
  },
});
