import { expect, test } from "vitest";
import { ConfigFolder } from "./config-folder.ts";

const folderWith = (hooks: string) =>
  new ConfigFolder(`archive: { url: http://127.0.0.1:1, accountKey: k, signing: { scheme: none } }
mirrors:
  - { source: /s, target: /A, hooks: ${hooks} }
journal: ./j.db
`);

test("what a hook is, and its defaults", async () => {
  using folder = folderWith("{ before: { command: [hooks/a, -x, ''] }, after: { command: [b] } }");
  const running = { timeoutMs: 30_000, concurrency: 2 };
  expect((await folder.load()).mirrors[0]?.hooks).toEqual({
    before: {
      command: [`${folder.path}/hooks/a`, "-x", ""],
      ...running,
      onFailure: "hold",
      afterVeto: { kind: "keep" },
    },
    after: { command: ["b"], ...running },
  });
});

test.for([
  ["{}", "nothing is said of any"],
  ["{ before: { timeout: 5s } }", "without a command there is none"],
] as const)("%s is no hook: %s", async ([hooks]) => {
  using folder = folderWith(hooks);
  expect((await folder.load()).mirrors[0]?.hooks).toBeUndefined();
});

test.for([
  ["{ before: { command: 'a b' } }", /command: must be a list/, "no shell splits it"],
  ["{ before: { command: [] } }", /command: is empty/, "there is no program"],
  ["{ before: { command: [a, 7] } }", /7 is not text/, "words are text"],
  ["{ before: { command: [a], timeout: 0 } }", /timeout: 0 is not a duration/, "no time at all"],
  [
    "{ before: { command: [a], afterVeto: delete } }",
    /neither keep nor move:PATH/,
    "never deleted",
  ],
  ["{ before: { command: [a], afterVeto: 'move:/s/x' } }", /lies in the source/, "sent again"],
  ["{ before: { command: [a], onFailure: skip } }", /none of hold, send/, "nothing is skipped"],
  ["{ after: { command: [a], onFailure: hold } }", /onFailure: unknown key/, "it is too late"],
] as const)("%s: %s, because %s", async ([hooks, problem]) => {
  using folder = folderWith(hooks);
  const problems = await folder.problems();
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(problem);
});
