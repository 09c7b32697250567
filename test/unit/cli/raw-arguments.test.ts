import { expect, test } from "vitest";
import { rawArguments } from "../../../src/cli/raw-arguments.ts";

const line = (...args: (string | Buffer)[]) =>
  Buffer.concat(args.flatMap((arg) => [Buffer.from(arg), Buffer.of(0)]));
const bad = Buffer.concat([Buffer.from("bad"), Buffer.of(0xff), Buffer.from(".txt")]);

test.for([
  [
    ["list", "", bad],
    ["list", "", "bad\\xff.txt"],
    "bytes that are no text are told as list shows them",
  ],
  [
    ["list", "a\ufffd", bad],
    ["list", "a\ufffd", "bad\\xff.txt"],
    "a name may hold the sign itself",
  ],
  [["ä\n.txt", bad], ["ä\n.txt", "bad\\xff.txt"], "what is text stays as it is"],
] as const)("%j are %j: %s", ([given, meant]) => {
  const args = given.map((arg) => arg.toString());
  expect(rawArguments(args, () => line("node", "--flag", "main.js", ...given))).toEqual(meant);
});

test.for([
  [Buffer.alloc(0), "the system does not tell"],
  [line("node", "list", "other"), "it tells of something else"],
] as const)("arguments stay as they are where %#: %s", ([commandLine]) => {
  expect(rawArguments(["list", bad.toString()], () => commandLine)).toEqual([
    "list",
    "bad\ufffd.txt",
  ]);
});
