/** The log's way out when nobody reads it: bounded, and what is missing is told. */
import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { LogOutput } from "../../../src/daemon/log-output.ts";

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
