import { expect, test } from "vitest";
import type { State } from "../../../src/domain/document.ts";
import type { StatusReport } from "../../../src/sync/status.ts";
import { whyWaits } from "../../../src/sync/why-waits.ts";
import { reportOf } from "../dashboard/open-dashboard.ts";

const [main] = reportOf().archives;
const [scans] = reportOf().mirrors;
if (!main || !scans) throw new Error("there is one of each");

const gate = { closedAt: 0, code: "QUOTA_LIMIT", message: "spent", hint: "", nextProbeAt: null };
const code = "ARCHIVE_UNREACHABLE";
const outage = { since: 0, code, message: "no connection", hint: "Look.", nextAttemptAt: 1 };
const offline = { since: 0, why: "not mounted" };
const waits = { why: "hours", message: "outside of the hours", until: 1 } as const;

const silent = { archives: [{ ...main, outage }] };
const away = { mirrors: [{ ...scans, offline }] };

test.for([
  [{}, "pending", null, "its turn comes"],
  [{ running: false }, "uploaded", /^scanferry is not running/, "nobody asks for it"],
  [{ running: false, paused: true }, "pending", /^sending is paused/, "running would not help"],
  [{ running: false }, "converted", null, "nothing is left to do"],
  [{ running: false }, "held", null, "what it waits for is its own"],
  [{ mirrors: [] }, "pending", /not in the configuration/, "nobody works on it"],
  [away, "settling", /^the source is offline: not mounted/, "it cannot be looked at"],
  [away, "pending", /^the source is offline/, "it cannot be read"],
  [away, "uploaded", null, "the archive has it"],
  [silent, "settling", null, "that needs no archive"],
  [silent, "pending", /^the archive cannot be reached: no connection/, "it cannot be sent"],
  [silent, "inDoubt", /^the archive cannot be reached/, "it cannot be looked for"],
  [silent, "uploaded", /^the archive cannot be reached/, "it cannot be asked for"],
  [{ paused: true, ...silent }, "pending", /^sending is paused/, "a person did that"],
  [{ paused: true }, "uploaded", null, "a pause is of sending alone"],
  [{ archives: [{ ...main, gate, outage }] }, "pending", /^nothing is sent: spent/, "the gate"],
  [
    { archives: [{ ...main, sending: { waits, concurrency: 4 } }] },
    "pending",
    /^nothing new is sent: outside of the hours/,
    "and all else",
  ],
  [
    { archives: [main, { ...main, name: "legal", outage }] },
    "pending",
    null,
    "another archive is none of its business",
  ],
] as [Partial<StatusReport>, State, RegExp | null, string][])(
  "%#: %j, %s: %s (%s)",
  async ([report, state, why]) => {
    const told = await whyWaits(async () => reportOf(report), { mirror: "scans", state });
    if (why === null) expect(told).toBeNull();
    else expect(told).toMatch(why);
  },
);
