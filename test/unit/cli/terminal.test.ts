import { expect, test } from "vitest";
import { Terminal } from "../../../src/cli/terminal.ts";
import { Sink } from "./in-process.ts";

test.for([
  [true, {}, true, "a person at a terminal"],
  [true, { NO_COLOR: "1" }, false, "who does not want colours"],
  [true, { NO_COLOR: "" }, true, "an empty NO_COLOR says nothing"],
  [true, { TERM: "dumb" }, false, "a terminal that cannot"],
  [false, {}, false, "a pipe or a file"],
  [false, { FORCE_COLOR: "1" }, true, "a pipe to something that shows them"],
  [false, { FORCE_COLOR: "1", NO_COLOR: "1" }, true, "as Node has it"],
  [true, { FORCE_COLOR: "0" }, false, "it says which way"],
] as const)("tty %s with %j: colour %s (%s)", ([tty, env, colour]) => {
  const terminal = new Terminal(new Sink(tty), env);
  expect(terminal.paint("red", "x")).toBe(colour ? "\u001b[31mx\u001b[39m" : "x");
});

test("a reader that went away is no failure, and shows", async () => {
  const sink = new Sink();
  const terminal = new Terminal(sink, {});
  sink.destroy(Object.assign(new Error("gone"), { code: "EPIPE" }));
  await terminal.line("dropped");
  expect(terminal.gone.aborted).toBe(true);
  await expect(terminal.line("as well")).resolves.toBeUndefined();
});

test("a full disk is a fault", async () => {
  const sink = new Sink();
  const terminal = new Terminal(sink, {});
  sink.destroy(Object.assign(new Error("no space"), { code: "ENOSPC" }));
  await new Promise(setImmediate);
  await expect(terminal.line("lost")).rejects.toMatchObject({ code: "OUTPUT_FAILED" });
});
