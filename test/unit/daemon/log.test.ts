import { expect, test } from "vitest";
import { openLog } from "../../../src/daemon/log.ts";

test("a log that is opened anew at every reload leaves no listener behind", () => {
  const options = { level: "info", secrets: [], pretty: false } as const;
  openLog(options)[Symbol.dispose]();
  const before = process.stdout.listenerCount("error");
  for (let reload = 0; reload < 20; reload++) openLog(options)[Symbol.dispose]();
  expect(process.stdout.listenerCount("error")).toBe(before);
});
