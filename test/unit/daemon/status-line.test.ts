import { expect, test } from "vitest";
import { type Standing, statusLine } from "../../../src/daemon/status-line.ts";
import { noDocuments } from "../../../src/sync/status.ts";

const gate = { closedAt: 1, code: "QUOTA_LIMIT", message: "", hint: "", nextProbeAt: null };
const outage = { tries: 2, until: 0, trouble: { code: "UNREACHABLE", message: "" } };

type Given = Partial<Standing["report"]> & Partial<Omit<Standing, "report">>;

test.for([
  [{}, "idle; 0 converted", "nothing to do is said as well"],
  [
    { documents: { ...noDocuments(), settling: 2, uploading: 1, converted: 1_204, held: 3 } },
    "2 settling, 1 uploading; 1204 converted; 3 held",
    "what is under way, what is done, what waits; no state without documents",
  ],
  [{ paused: true }, "paused; idle; 0 converted", "a person did that, and may have forgotten"],
  [{ gate }, "nothing is sent: QUOTA_LIMIT; idle; 0 converted", "why nothing moves comes first"],
  [{ outage }, "archive not reached: UNREACHABLE; idle; 0 converted", "so does an outage"],
  [
    { offline: ["a", "b\nX"] },
    "source of a offline; source of b?X offline; idle; 0 converted",
    "a name cannot make a second line, or another assignment",
  ],
] as const satisfies [Given, string, string][])("%o is %s, because %s", ([given, line]) => {
  const { outage: out, offline = [], ...report } = given as Given;
  const whole = { documents: noDocuments(), paused: false, gate: null, ...report };
  expect(statusLine({ report: whole, outage: out, offline })).toBe(line);
});
