/** The schedules of outbox entry, with real calls over a clock that moves by hand. */
import { expect, test } from "vitest";
import type { NotifyConfig } from "../../../src/config/notify-section.ts";
import { USUAL_EVENTS } from "../../../src/domain/event.ts";
import { type NotificationsOptions, OwnNotifications } from "../../../src/daemon/notifications.ts";
import type { MessageBody } from "../../../src/notify/message.ts";
import { silentLog } from "../../../src/std/log.ts";
import { Desk } from "../../contract/journal-desk.ts";
import { aNotify } from "../../fixtures/a-config.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { MemoryCluster } from "../../fakes/memory-cluster.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";
import { MemoryStore } from "../../fakes/memory-store.ts";
import { hookServer } from "../../fixtures/hook-server.ts";
import { until } from "../../fixtures/until.ts";
import { aWorld } from "../../fixtures/world.ts";
import { standingOf } from "../../../src/report/standing.ts";
import { reportOf } from "../dashboard/open-dashboard.ts";
import { ACCOUNT } from "../../fixtures/assignments.ts";

const MINUTE = 60_000;

/** A current over a webhook and a ping at `url`; what it logs is in `lines`. */
async function aTeller(
  url: string,
  set: Partial<NotifyConfig> = {},
  journal = new MemoryJournal(),
  isOwn = () => true,
) {
  await using world = await aWorld();
  const clock = new ManualClock();
  const lines: string[] = [];
  const tell = (_: object, message: string) => void lines.push(message);
  const health = { healthy: true, ready: true, why: "ok" };
  const options: NotificationsOptions = {
    config: world.config(),
    notify: aNotify({
      channels: [
        {
          by: "webhook",
          format: "json",
          name: "hook",
          events: USUAL_EVENTS,
          url: `${url}/told`,
          secret: undefined,
        },
      ],
      timeoutMs: 5_000,
      repeatMs: MINUTE,
      heldAfterMs: MINUTE,
      ping: { url: `${url}/ping`, method: "GET", schedule: "* * * * *" },
      ...set,
    }),
    parts: { journal, accounts: { scanSchedulers: [] } },
    standing: async () => standingOf(journal, reportOf(), { health }),
    health: async () => health,
    clock,
    random: () => 0.5,
    log: { ...silentLog, warn: tell, info: tell, error: tell },
  };
  const notifications = await OwnNotifications.open(options, isOwn);
  const life = new AbortController();
  const running = notifications.run(life.signal);
  return {
    get current() {
      return notifications.current;
    },
    clock,
    lines,
    health,
    async [Symbol.asyncDispose]() {
      life.abort(new Error("the end"));
      await running;
    },
  };
}

test("the ping comes while all is well, and not while it is not", async () => {
  await using hook = await hookServer();
  const pings = () => hook.calls.filter(({ path }) => path === "/ping").length;
  await using world = await aTeller(hook.url);
  const { clock, health } = world;
  await clock.advance(MINUTE);
  await until("a ping", () => pings() === 1);
  health.healthy = false;
  await clock.advance(5 * MINUTE);
  // That nothing moves is told; the ping does not come.
  const isTold = () => hook.calls.some(({ body }) => body.includes('"stalled"'));
  await until("the news", () => clock.advance(1_000).then(isTold));
  expect(pings()).toBe(1);
  health.healthy = true;
  await until("another", () => clock.advance(MINUTE).then(() => pings() > 1));
});

test("who takes the archive over from another daemon tells people from then on", async () => {
  await using hook = await hookServer();
  const store = new MemoryStore();
  const clock = new ManualClock();
  const join = (name: string) => MemoryCluster.join(store, { name, clock });
  const [first, second] = [join("first"), join("second")];
  await first.seek([ACCOUNT]);
  await second.seek([ACCOUNT]);
  const journal = new MemoryJournal({ store, cluster: second });
  await using world = await aTeller(hook.url, {}, journal, () => second.owns(ACCOUNT));
  await world.clock.advance(5 * MINUTE);
  expect([world.current, hook.calls]).toEqual([undefined, []]);
  first.leave();
  await until("a ping", () => world.clock.advance(MINUTE).then(() => hook.calls.length > 0));
});

test("a ping that fails is told to the log once, and when it gets through again", async () => {
  await using hook = await hookServer(500);
  await using world = await aTeller(hook.url, { channels: [] });
  const { clock, lines } = world;
  // One that is under way keeps the next from being begun.
  const minuteBy = async () => clock.advance(MINUTE);
  await until("three", () => minuteBy().then(() => hook.calls.length >= 3));
  expect(lines).toEqual(["cannot send the ping"]);
  hook.status = 200;
  await until("better news", () => minuteBy().then(() => lines.length > 1));
  expect(lines).toEqual(["cannot send the ping", "the ping works again"]);
});

test("documents of a mirror that was taken out are nobody's problem any more", async () => {
  await using hook = await hookServer();
  const journal = new MemoryJournal();
  const scans = await Desk.at(journal);
  const gone = new Desk(journal, (await journal.mirror("gone", "/srv/gone")).id);
  for (const path of ["a.pdf", "b.pdf"]) await gone.held(path, "FILE_EMPTY");
  await gone.held("c.pdf", "FOLDER_MISSING");
  await scans.held("d.pdf", "FILE_EMPTY");
  await using world = await aTeller(hook.url, { ping: undefined }, journal);
  await world.clock.advance(2 * MINUTE);
  await until("the news", () => world.clock.advance(1_000).then(() => hook.calls.length > 0));
  const events = hook.calls.flatMap(({ body }) => (JSON.parse(body) as MessageBody).events);
  expect([...new Set(events.map(({ title }) => title))]).toEqual([
    "1 document is held: FILE_EMPTY",
  ]);
});

test("the digest comes at its time, and a reader that was restarted learns about", async () => {
  await using hook = await hookServer();
  await using world = await aTeller(hook.url, { ping: undefined, digest: "*/10 * * * *" });
  const { clock, current } = world;
  current?.readerRestarted(["scans", "contracts"]);
  await clock.advance(11 * MINUTE);
  await until("both", () => clock.advance(1_000).then(() => hook.calls.length > 1));
  const events = hook.calls.flatMap(({ body }) => (JSON.parse(body) as MessageBody).events);
  expect(events.map(({ event, title }) => `${event}: ${title}`).toSorted()).toEqual([
    "digest: 0 documents archived, nothing is wrong",
    "reader: The reader of scans, contracts was restarted",
  ]);
});
