import { expect, test } from "vitest";
import { isKnown, Outages } from "../../../src/sync/outage.ts";
import { Sync } from "../../../src/sync/sync.ts";
import { unreachable } from "../../fakes/scripted-archive.ts";
import { MINUTE, SyncDesk } from "./desk.ts";

const problem = { code: "ARCHIVE_UNREACHABLE", message: "no connection" };

function timingOut(timeoutMs: number) {
  const archive = {
    name: "main",
    url: "",
    accountKey: "",
    signing: { scheme: "none" },
    storedSize: "same",
  } as const;
  return { archive: { ...archive, timeoutMs } };
}

test.for([
  [0, undefined, true, "it is tried again in a minute"],
  [1.5, undefined, true, "it is being tried, and may take its time to fail"],
  [3, undefined, false, "nothing had to be tried: who knows"],
  [3, 1, false, "nor may a try take so long"],
  [10, 5, true, "a try may take as long as the archive is given to answer"],
  [11, 5, false, "that is over, too"],
] as const)(
  "an outage until the first minute is known after %d, with a timeout of %s: %s, for %s",
  async ([minutes, timeout, is]) => {
    const desk = await SyncDesk.open(timeout ? { config: timingOut(timeout * MINUTE) } : {});
    const { clock } = desk;
    const outage = { tries: 1, until: clock.monotonic() + MINUTE, problem };
    await clock.advance(minutes * MINUTE);
    expect(isKnown(outage, desk.context)).toBe(is);
  },
);

test("none is none", async () => {
  const { context } = await SyncDesk.open();
  expect(isKnown(undefined, context)).toBe(false);
});

test("an outage is reported once, however often the archive is tried; the next one again", async () => {
  const { clock, context, warnings } = await SyncDesk.open();
  const outages = new Outages(context);
  for (const [outage, tries] of [3, 2].entries()) {
    for (let n = 0; n < tries; n++) {
      outages.met(problem, 0);
      await clock.advance(outages.waitMs);
    }
    expect(warnings).toHaveLength(outage + 1);
    outages.over();
  }
});

test("an archive that is asked, and given long to answer, does not count as back meanwhile", async () => {
  const desk = await SyncDesk.open({ config: timingOut(5 * MINUTE) });
  const folderId = desk.archive.addFolder("Scans");
  const documentId = desk.archive.addDocument({ folderId, filename: "a.pdf" });
  desk.put({ state: "uploaded", folderId, documentId, dueAt: desk.clock.now() });
  desk.archive.fail("document", unreachable());
  const answer = desk.archive.stall("document");
  const sync = await Sync.open(
    desk.context,
    () => null,
    () => {},
  );
  await desk.run(sync);
  for (const minutes of [1, 4]) {
    await desk.advance(minutes * MINUTE);
    expect(sync.outage?.problem.code).toBe("ARCHIVE_UNREACHABLE");
  }
  answer();
  await desk.advance(0);
  expect(sync.outage).toBeUndefined();
});
