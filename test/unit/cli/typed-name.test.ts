import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { typedName } from "../../../src/cli/shell.ts";

/** A clone, a link to its program on the path, and another program of that name. */
function aHost(): string {
  const root = mkdtempSync(join(tmpdir(), "typed-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const folder of ["clone/bin", "linked", "other", "empty"])
    mkdirSync(join(root, folder), { recursive: true });
  for (const file of ["clone/bin/scanferry", "other/scanferry"])
    writeFileSync(join(root, file), "");
  symlinkSync(join(root, "clone/bin/scanferry"), join(root, "linked/scanferry"));
  return root;
}

test.for([
  // PATH, where the user is, typed, because
  [["empty", "linked"], "empty", "scanferry", "the path leads to it"],
  [["empty"], "clone", "bin/scanferry", "it is a clone"],
  [["empty"], "clone/bin", "./scanferry", "a bare name is looked for on the path alone"],
  [["other", "linked"], "clone", "bin/scanferry", "the path leads to another one first"],
  [[], "empty", "ROOT/clone/bin/scanferry", "it is elsewhere"],
] as const)("with PATH %j, in %s: %s, because %s", ([path, cwd, typed]) => {
  const root = aHost();
  const env = { PATH: path.map((folder) => join(root, folder)).join(":") };
  const own = join(root, "clone/bin/scanferry");
  expect(typedName(env, join(root, cwd), own)).toBe(typed.replace("ROOT", root));
});

test("an image has it on the path", () => {
  expect(typedName({}, "/", "/nowhere/bin/scanferry")).toBe("scanferry");
});
