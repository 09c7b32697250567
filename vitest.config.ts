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
    // What takes a dozen seconds on a busy machine is to pass on one that is ten times as slow.
    testTimeout: 150_000,
    hookTimeout: 150_000,
    // Scenarios mostly wait: for files to settle, for replies, for processes.
    maxWorkers: 5,
  },
});
