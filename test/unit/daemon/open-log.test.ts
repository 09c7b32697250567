import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, describe } from "vitest";
import { LogFile, LogOutput } from "../../../src/daemon/open-log.ts";
import { Writable } from "node:stream";

/** A log file of its own: rotated, bounded, no line lost, and never the end of the daemon. */
describe("log file", () => {
  function aPlace(): string {
    const dir = mkdtempSync(join(tmpdir(), "scanferry-log-"));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    return dir;
  }

  function aLog(path: string, set: { sizeBytesMax?: number; olderMax?: number } = {}) {
    const elsewhere: string[] = [];
    const settings = { path, sizeBytesMax: 100, olderMax: 3, ...set };
    const log = new LogFile(settings, (line) => void elsewhere.push(line));
    onTestFinished(() => log.close());
    return { log, elsewhere };
  }

  const line = (n: number) => `line ${String(n).padStart(4, "0")}\n`;
  const linesOf = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : "");

  test("it begins again before it grows too large; the oldest go, in order", () => {
    const path = join(aPlace(), "logs", "s.log");
    const { log, elsewhere } = aLog(path);
    for (let n = 0; n < 75; n++) log.write(line(n));
    expect(readdirSync(join(path, "..")).toSorted()).toEqual([
      "s.log",
      "s.log.1",
      "s.log.2",
      "s.log.3",
    ]);
    for (const each of ["", ".1", ".2", ".3"])
      expect(statSync(path + each).size).toBeLessThanOrEqual(100);
    const all = [".3", ".2", ".1", ""].map((each) => linesOf(path + each)).join("");
    expect(all).toBe(Array.from({ length: 35 }, (_, n) => line(40 + n)).join(""));
    expect(elsewhere).toEqual([]);
  });

  test("no line is lost while there is room for all of them, over restarts too", () => {
    const path = join(aPlace(), "s.log");
    for (let run = 0; run < 5; run++) {
      const { log } = aLog(path, { olderMax: 50 });
      for (let n = 0; n < 33; n++) log.write(line(run * 33 + n));
      log.close();
    }
    const files = Array.from({ length: 51 }, (_, n) => (n === 50 ? path : `${path}.${50 - n}`));
    expect(files.map(linesOf).join("")).toBe(
      Array.from({ length: 165 }, (_, n) => line(n)).join(""),
    );
  });

  test("a line that is longer than a whole file has one of its own", () => {
    const path = join(aPlace(), "s.log");
    const { log } = aLog(path);
    const long = `${"x".repeat(500)}\n`;
    for (const each of [line(1), long, line(2)]) log.write(each);
    expect([".2", ".1", ""].map((age) => linesOf(path + age))).toEqual([line(1), long, line(2)]);
  });

  test("with no older ones kept there is one file", () => {
    const path = join(aPlace(), "s.log");
    const { log } = aLog(path, { olderMax: 0 });
    for (let n = 0; n < 25; n++) log.write(line(n));
    expect(readdirSync(join(path, ".."))).toEqual(["s.log"]);
    expect(linesOf(path)).toBe(Array.from({ length: 5 }, (_, n) => line(20 + n)).join(""));
  });

  test("on a full disk lines go to the output, and none ends the daemon", () => {
    const path = join(aPlace(), "s.log");
    // Every write to it ends with ENOSPC.
    symlinkSync("/dev/full", path);
    const { log, elsewhere } = aLog(path);
    for (let n = 0; n < 3; n++) log.write(line(n));
    expect(elsewhere).toEqual([line(0), line(1), line(2)]);
  });

  test("a place that cannot be written to is tried again with every line", () => {
    const dir = aPlace();
    const path = join(dir, "s.log");
    mkdirSync(path);
    const { log, elsewhere } = aLog(path);
    log.write(line(1));
    rmSync(path, { recursive: true });
    log.write(line(2));
    expect(elsewhere).toEqual([line(1)]);
    expect(linesOf(path)).toBe(line(2));
  });

  test("where nothing can be renamed the file grows on, and no line is lost", () => {
    const path = join(aPlace(), "s.log");
    // A folder in the way of the oldest one.
    mkdirSync(join(`${path}.1`, "in the way"), { recursive: true });
    const { log, elsewhere } = aLog(path, { olderMax: 1 });
    for (let n = 0; n < 30; n++) log.write(line(n));
    expect(linesOf(path)).toBe(Array.from({ length: 30 }, (_, n) => line(n)).join(""));
    expect(elsewhere).toEqual([]);
  });
});

/** The log's way out when nobody reads it: bounded, and what is missing is told. */
describe("log output", () => {
  /** A reader that takes what it is given when it is told to. */
  class Reader extends Writable {
    text = "";
    #take: (() => void) | undefined;
    reads = false;

    override _write(chunk: Buffer, _encoding: string, done: () => void): void {
      this.#take = () => {
        this.#take = undefined;
        this.text += chunk.toString();
        done();
      };
      if (this.reads) this.#take();
    }

    async goOn(): Promise<void> {
      this.reads = true;
      this.#take?.();
      await new Promise(setImmediate);
    }
  }

  function aStalledOutput(waitingMax: number) {
    const reader = new Reader();
    const output = new LogOutput(() => reader, waitingMax);
    const tell = (line: string) => {
      output.write(`${line}\n`, (dropped) => {
        output.write(`${dropped} dropped\n`, () => expect.unreachable());
      });
    };
    const say = async (...lines: readonly string[]) => {
      for (const line of lines) {
        tell(line);
        await Promise.resolve();
      }
    };
    /** All in one turn. */
    const burst = async (lines: number) => {
      for (let n = 0; n < lines; n++) tell(`${n}`);
      await Promise.resolve();
    };
    return { reader, say, burst };
  }

  test("what nobody reads is bounded, and once it is read how much is missing is told, once", async () => {
    const { reader, say } = aStalledOutput(10);
    for (let n = 0; n < 1_000; n++) await say(`${n}`);
    expect(reader.writableLength).toBeLessThan(20);
    await reader.goOn();
    await say("on", "and on");
    const read = reader.text.trimEnd().split("\n");
    expect(read.join(" ")).toBe("0 1 2 3 4 5 994 dropped on and on");
  });

  test("nothing is dropped while there is room", async () => {
    const { reader, say } = aStalledOutput(100);
    await say("one", "two", "three");
    await reader.goOn();
    expect(reader.text).toBe("one\ntwo\nthree\n");
  });

  test.for([
    [50, 50, "no reader could have taken any of them"],
    [1_000, 57, "what comes at once is bounded, too"],
  ] as const)("of %i lines of one turn %i are told, because %s", async ([lines, told]) => {
    const { reader, say, burst } = aStalledOutput(10);
    await reader.goOn();
    await burst(lines);
    await reader.goOn();
    await say("on");
    const read = reader.text.trimEnd().split("\n");
    const rest = told < lines ? [`${lines - told} dropped`, "on"] : ["on"];
    expect(read).toEqual([...Array.from({ length: told }, (_, n) => `${n}`), ...rest]);
  });

  test("a turn that begins while nobody reads is dropped with the rest", async () => {
    const { reader, say, burst } = aStalledOutput(3);
    await say("one");
    await burst(50);
    await reader.goOn();
    await say("on");
    expect(reader.text).toBe("one\n50 dropped\non\n");
  });
});
