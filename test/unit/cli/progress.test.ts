/** What a pass says of itself. */
import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { Progress } from "../../../src/cli/progress.ts";
import { Terminal } from "../../../src/cli/terminal.ts";
import type { Applied } from "../../../src/journal/journal.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { inState } from "../../fixtures/a-document.ts";
import { everyEvent } from "../../fixtures/events.ts";

test.for([
  ["accepted", "uploading", 1, "the archive took it"],
  ["adopted", "pending", 0, "the archive had it before"],
] as const)("%s from %s counts as %i sent: %s", ([type, from, sent]) => {
  const out = new Terminal(new Writable({ write: (_chunk, _encoding, done) => done() }), {});
  const progress = new Progress(out, new ManualClock());
  const event = everyEvent().find((each) => each.type === type);
  if (!event) throw new Error(`no ${type}`);
  const change = { type: "event", id: 1, event } as const;
  const applied: Applied = { change, document: inState("uploaded"), from, skipped: false };
  progress.journaled([applied]);
  expect(progress.sent).toBe(sent);
});
