import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { openLog } from "../../../src/daemon/open-log.ts";
import { STEERING } from "../../../src/std/printable.ts";

const options = { level: "info", secrets: [], pretty: false } as const;
const LOG = fileURLToPath(new URL("../../../src/daemon/open-log.ts", import.meta.url));

test("a log that is opened again at every reload leaves no listener behind", async () => {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    const one = async () => {
      using log = openLog(options);
      log.info({}, "a line");
      await Promise.resolve();
    };
    await one();
    const listeners = () => process.stdout.listenerCount("error") + process.listenerCount("exit");
    const before = listeners();
    for (let reload = 0; reload < 20; reload++) await one();
    expect(listeners()).toBe(before);
    expect(write).toHaveBeenCalledTimes(21);
  } finally {
    write.mockRestore();
  }
});

test("lines of one turn leave together, in order", async () => {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    using log = openLog(options);
    for (const line of ["one", "two", "three"]) log.info({}, line);
    await Promise.resolve();
    const [said, ...more] = write.mock.calls.map(([text]) => String(text));
    expect(more).toEqual([]);
    expect(said?.match(/"msg":"\w+"/g)).toEqual(['"msg":"one"', '"msg":"two"', '"msg":"three"']);
  } finally {
    write.mockRestore();
  }
});

test("at a terminal a line is one line, and nothing in it steers the terminal", async () => {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    using log = openLog({ ...options, pretty: true });
    log.warn(
      { reason: "said \u001b]0;title\u0007", path: "\u202efdp.exe" },
      "held: a\r\nb\u001b[2J",
    );
    await Promise.resolve();
    expect(String(write.mock.calls[0]?.[0]).replace(/^\S+ /, "")).toBe(
      "warn  held: a\\x0d\\x0ab\\x1b[2J  reason=said \\x1b]0;title\\x07 path=\\u202efdp.exe\n",
    );
  } finally {
    write.mockRestore();
  }
});

test("a line of JSON steers nothing, and is read as it was meant", async () => {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    using log = openLog(options);
    const path = "\u009b31m\u007f\u202efdp\u200f\u2028.exe\u001b";
    log.warn({ path }, path);
    await Promise.resolve();
    const line = String(write.mock.calls[0]?.[0]);
    expect(line.trimEnd()).not.toMatch(STEERING);
    expect(JSON.parse(line)).toMatchObject({ path, msg: path });
  } finally {
    write.mockRestore();
  }
});

test.for([
  ["ends at once", "process.exit(3)"],
  ["throws", 'throw new Error("a bug")'],
])("the last line of a process that %s is said", ([, how]) => {
  const program = `import { openLog } from ${JSON.stringify(LOG)};
    openLog(${JSON.stringify(options)}).info({}, "the last line");
    ${how};`;
  const words = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", program];
  const { stdout } = spawnSync(process.execPath, words, { encoding: "utf8" });
  expect(stdout).toContain("the last line");
});
