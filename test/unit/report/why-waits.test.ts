import { expect, test } from "vitest";
import type { State } from "../../../src/domain/document.ts";
import { findingsOf } from "../../../src/report/findings.ts";
import { oneLine } from "../../../src/report/finding-text.ts";
import { whyWaits } from "../../../src/report/explanation.ts";
import { reportOf } from "../dashboard/open-dashboard.ts";
import { some } from "./situations.ts";
import type { StatusReport } from "../../../src/report/status.ts";

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

const former = {
  mirrors: [],
  formerMirrors: [{ name: "scans", source: "/srv/scans", ...some({ pending: 1 }) }],
};

test.for([
  [{}, "pending", null, "its turn comes"],
  [{ running: false }, "uploaded", /^scanferry is not running/, "nobody asks for it"],
  [
    { running: false, paused: true },
    "pending",
    /^Sending is paused\. .*resume/,
    "running would not help",
  ],
  [{ running: false }, "converted", null, "nothing is left to do"],
  [{ running: false }, "held", null, "what it waits for is its own"],
  [former, "pending", /^The mirror scans is no longer configured/, "nobody works on it"],
  [
    away,
    "settling",
    /^The source of scans is offline since .*not mounted/,
    "it cannot be looked at",
  ],
  [away, "pending", /^The source of scans is offline/, "it cannot be read"],
  [away, "uploaded", null, "the archive has it"],
  [silent, "settling", null, "that needs no archive"],
  [silent, "pending", /^Cannot reach the archive since .*no connection/, "it cannot be sent"],
  [silent, "inDoubt", /^Cannot reach the archive/, "it cannot be looked for"],
  [silent, "uploaded", /^Cannot reach the archive/, "it cannot be asked for"],
  [{ paused: true, ...silent }, "pending", /^Sending is paused\. .*resume/, "a person did that"],
  [{ paused: true }, "uploaded", null, "a pause is of sending alone"],
  [
    { archives: [{ ...main, gate, outage }] },
    "pending",
    /^Sending has stopped: .*spent/,
    "the gate",
  ],
  [
    { archives: [{ ...main, sending: { waits, concurrency: 4 } }] },
    "pending",
    /^Sending waits\. outside of the hours.* Sending may begin/,
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
    const standing = async () => {
      const whole = reportOf({ ...some({ [state]: 1 }), ...report });
      return { report: whole, findings: findingsOf({ report: whole, problems: [] }) };
    };
    const found = await whyWaits(standing, { mirror: "scans", state });
    if (why === null) expect(found).toBeNull();
    else expect(found && oneLine(found, 0)).toMatch(why);
  },
);
