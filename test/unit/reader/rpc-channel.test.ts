import { describe, expect, test } from "vitest";
import { RpcChannel, ChannelClosed, type Port } from "../../../src/reader/rpc-channel.ts";
import { Fault } from "../../../src/std/fault.ts";
import { until } from "../../fixtures/until.ts";

type Ours = { echo: (value: unknown) => Promise<unknown> };
type Theirs = {
  add: (a: number, b: number) => Promise<number>;
  slow: (name: string) => Promise<string>;
  fail: () => Promise<void>;
};

/** Two ends joined in memory; what crosses is copied, as between processes. */
function aWire() {
  const listeners: ((message: unknown) => void)[][] = [[], []];
  const crossed: unknown[] = [];
  const port = (mine: 0 | 1): Port => ({
    send(message) {
      crossed.push(message);
      const copy: unknown = structuredClone(message);
      queueMicrotask(() => {
        for (const listener of listeners[1 - mine] ?? []) listener(copy);
      });
    },
    onMessage: (listener) => void listeners[mine]?.push(listener),
  });
  return { left: port(0), right: port(1), crossed, listeners };
}

/** A line to someone who offers `theirs`. */
function aLine(theirs: Partial<Theirs>) {
  const wire = aWire();
  const here = new RpcChannel<Theirs>(wire.left, { echo: async (value: unknown) => value });
  const there = new RpcChannel<Ours>(wire.right, theirs);
  return { here, there, ...wire };
}

describe("calls", () => {
  test("are answered with what the other side makes of them", async () => {
    const { here } = aLine({ add: async (a, b) => a + b });
    expect(await here.call("add", 1, 2)).toBe(3);
  });

  test("cross together when the turn is over, or at once where that may take long", async () => {
    const { here, crossed } = aLine({ add: async (a, b) => a + b });
    const [first, second] = [here.call("add", 1, 2), here.call("add", 3, 4)];
    expect(crossed).toHaveLength(0);
    here.flush();
    expect(crossed).toHaveLength(1);
    expect(await Promise.all([first, second])).toEqual([3, 7]);
    expect(crossed, "the calls, and their answers").toHaveLength(2);
  });

  test("go both ways over one channel", async () => {
    const { here, there } = aLine({
      add: async (a, b) => ((await there.call("echo", a)) as number) + b,
    });
    expect(await here.call("add", 1, 2)).toBe(3);
  });

  test("of one turn cross together, and so do their answers", async () => {
    const { here, crossed } = aLine({ add: async (a, b) => a + b });
    const sums = await Promise.all([here.call("add", 1, 2), here.call("add", 3, 4)]);
    expect(sums).toEqual([3, 7]);
    expect(crossed).toMatchObject([
      [{ call: 1 }, { call: 2 }],
      [{ answer: 1 }, { answer: 2 }],
    ]);
  });

  test("are matched with their answers, in whatever order those come", async () => {
    const waiting = new Map<string, (answer: string) => void>();
    const { here } = aLine({
      slow: (name) => new Promise((resolve) => waiting.set(name, resolve)),
    });
    const calls = ["a", "b", "c"].map((name) => here.call("slow", name));
    await until("three calls", () => waiting.size === 3);
    for (const name of ["c", "a", "b"]) waiting.get(name)?.(`answer to ${name}`);
    expect(await Promise.all(calls)).toEqual(["answer to a", "answer to b", "answer to c"]);
  });

  test("keep `undefined` and `null` apart", async () => {
    const { there } = aLine({});
    expect(await there.call("echo", [undefined, null])).toEqual([undefined, null]);
  });

  test("of what is not offered are refused", async () => {
    const { here } = aLine({});
    await expect(here.call("add", 1, 2)).rejects.toThrow("no such call: add");
  });
});

describe("errors", () => {
  test.for([
    [new Fault("FILE_GONE", "it is gone", "Look for it."), "a fault keeps code and hint"],
    [Object.assign(new Error("no room"), { code: "ENOSPC" }), "a system error keeps its code"],
    [new Error("odd"), "any error keeps its message"],
  ] as const)("%s crosses: %s", async ([error]) => {
    const { here } = aLine({ fail: () => Promise.reject(error) });
    const crossed = await here.call("fail").catch((reason: unknown) => reason);
    expect(crossed).toBeInstanceOf(Error);
    expect(crossed instanceof Fault).toBe(error instanceof Fault);
    expect({ ...(crossed as object) }).toEqual(
      "hint" in error
        ? { name: "Fault", code: error.code, hint: error.hint }
        : "code" in error
          ? { code: error.code }
          : {},
    );
    expect((crossed as Error).message).toBe(error.message);
  });

  test("stacks and causes stay where they happened", async () => {
    const error = new Error("refused", { cause: new Error("acc_key=4711") });
    const { here, crossed } = aLine({ fail: () => Promise.reject(error) });
    await here.call("fail").catch(() => {});
    expect(JSON.stringify(crossed)).not.toContain("4711");
    expect(JSON.stringify(crossed)).not.toContain("line.test.ts");
  });

  test("something thrown that is no error crosses as its text", async () => {
    // oxlint-disable-next-line prefer-promise-reject-errors
    const { here } = aLine({ fail: () => Promise.reject("just text") });
    await expect(here.call("fail")).rejects.toThrow("just text");
  });

  test("a call that throws before it is a promise is answered too", async () => {
    const { here } = aLine({
      fail: () => {
        throw new Error("at once");
      },
    });
    await expect(here.call("fail")).rejects.toThrow("at once");
  });
});

describe("a line that is cut", () => {
  test("rejects every call that waits, and every later one, with why", async () => {
    const { here } = aLine({ slow: () => new Promise(() => {}) });
    const calls = [here.call("slow", "a"), here.call("slow", "b")];
    here.cut("the reader ended: SIGKILL");
    for (const call of [...calls, here.call("slow", "c")]) {
      const error = await call.catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ChannelClosed);
      expect((error as Error).message).toBe("the reader ended: SIGKILL");
    }
  });

  test("keeps the first reason, and posts nothing any more", async () => {
    const { here, crossed } = aLine({});
    here.cut("first");
    here.cut("second");
    await expect(here.call("add", 1, 2)).rejects.toThrow("first");
    expect(crossed).toEqual([]);
  });

  test("takes no notice of an answer that comes late, or to nothing", async () => {
    const { here, listeners } = aLine({ slow: () => new Promise(() => {}) });
    const call = here.call("slow", "a");
    here.cut("gone");
    for (const listener of listeners[0] ?? []) {
      listener([{ answer: 1, result: "late" }]);
      listener([{ answer: 99, result: "to nothing" }]);
    }
    await expect(call).rejects.toThrow("gone");
  });

  test("is what a channel that refuses a message becomes", async () => {
    const port: Port = {
      send() {
        throw new Error("channel closed");
      },
      onMessage() {},
    };
    await expect(new RpcChannel<Theirs>(port, {}).call("add", 1, 2)).rejects.toThrow(
      "channel closed",
    );
  });
});
