import { expect, test } from "vitest";
import { ClusterWatch } from "../../../src/daemon/cluster-watch.ts";
import { SOLO_CLUSTER } from "../../../src/journal/cluster.ts";
import { silentLog } from "../../../src/std/log.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { MemoryCluster } from "../../fakes/memory-cluster.ts";
import { MemoryStore } from "../../fakes/memory-store.ts";
import { ACCOUNT, ofMirror } from "../../fixtures/assignments.ts";

/** Two instances; the first has the assignment. */
async function aWatch() {
  const clock = new ManualClock();
  const store = new MemoryStore();
  const first = MemoryCluster.join(store, { name: "first", clock });
  await first.seek([ACCOUNT]);
  const second = MemoryCluster.join(store, { name: "second", clock });
  first.stayAlive();
  second.stayAlive();
  const said: string[] = [];
  const tell = (_: object, message: string) => void said.push(message);
  const log = { ...silentLog, info: tell, warn: tell };
  let backs = 0;
  const watch = await ClusterWatch.open(
    second,
    () => ({ assignments: [ACCOUNT, ofMirror(1)], local: [] }),
    log,
    () => {
      backs += 1;
    },
  );
  return { clock, first, second, watch, said, backs: () => backs };
}

test("who is gone, and what is taken over from them, is logged", async () => {
  const { clock, first, second, watch, said } = await aWatch();
  expect([second.owns(ACCOUNT), second.owns(ofMirror(1))]).toEqual([false, true]);
  first.die();
  await clock.advance(21_000);
  expect(second.owns(ACCOUNT)).toBe(true);
  expect(said.filter((line) => line.includes("other daemons stopped"))).toHaveLength(1);
  expect(said.filter((line) => line.includes("new assignments"))).toHaveLength(1);
  expect(watch.isLost).toBe(false);
});

test("a journal that is away is told once, and that it is back", async () => {
  const { second, watch, said, backs } = await aWatch();
  second.goAway("connection refused");
  expect(watch.away).toBe("the journal cannot be reached: connection refused");
  expect(watch.fault, "nothing that this host can fix").toBeUndefined();
  expect(watch.problem, "what people are told").toMatchObject({ code: "JOURNAL_UNREACHABLE" });
  second.comeBack();
  expect(watch.away).toBeUndefined();
  expect(watch.problem).toBeUndefined();
  expect(backs()).toBe(1);
  expect(said.filter((line) => line.includes("reached"))).toHaveLength(2);
});

test("a question to a journal that goes away meanwhile is answered by that", async () => {
  const { second, watch } = await aWatch();
  const instead = (why: string) => why;
  const pending = () => new Promise<string>(() => {});
  expect(await watch.answered(async () => "there", instead)).toBe("there");
  const asked = watch.answered(pending, instead);
  second.goAway("connection refused");
  expect(await asked).toBe("the journal cannot be reached: connection refused");
  expect(await watch.answered(pending, instead), "it is away already").toMatch(/refused$/);
  second.comeBack();
  expect(await watch.answered(async () => "there again", instead)).toBe("there again");
  const failed = watch.answered(() => Promise.reject(new Error("no")), instead);
  await expect(failed).rejects.toThrow("no");
});

test("anyone who is lost begins again as another", async () => {
  const { clock, second, watch } = await aWatch();
  second.goAway("stopped");
  await clock.advance(30_000);
  second.comeBack();
  expect(await watch.startOver).toBe("lost");
  expect(watch.isLost).toBe(true);
});

test("a daemon that is alone hears of nobody", async () => {
  using watch = await ClusterWatch.open(
    SOLO_CLUSTER,
    () => ({ assignments: [ACCOUNT], local: [] }),
    silentLog,
    () => {},
  );
  expect(watch.away).toBeUndefined();
});
