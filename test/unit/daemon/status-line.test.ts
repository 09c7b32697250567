import { expect, test } from "vitest";
import { type Standing, statusLine } from "../../../src/daemon/status-line.ts";
import { noDocuments } from "../../../src/sync/status.ts";

const gate = { closedAt: 1, code: "QUOTA_LIMIT", message: "", hint: "", nextProbeAt: null };
const outage = { tries: 2, until: 0, problem: { code: "UNREACHABLE", message: "" } };

const sending = { waits: null, concurrency: 4 };
const archive = (name: string, more = {}) => {
  const quota = { blockedSince: null, nextProbeAt: null };
  return {
    name,
    url: "https://a",
    quota,
    gate: null,
    sending,
    outage: null,
    allowance: null,
    ...more,
  };
};

type Given = Partial<Standing["report"]> & Partial<Omit<Standing, "report">>;

test.for([
  [{}, "idle; 0 converted", "nothing to do is said as well"],
  [
    { documents: { ...noDocuments(), settling: 2, uploading: 1, converted: 1_204, held: 3 } },
    "2 settling, 1 uploading; 1204 converted; 3 held",
    "what is under way, what is done, what waits; no state without documents",
  ],
  [{ paused: true }, "paused; idle; 0 converted", "a person did that, and may have forgotten"],
  [
    { archives: [archive("main", { gate })] },
    "nothing is sent: QUOTA_LIMIT; idle; 0 converted",
    "why nothing moves comes first",
  ],
  [
    { outages: [{ archive: "main", outage }] },
    "archive not reached: UNREACHABLE; idle; 0 converted",
    "so does an outage",
  ],
  [
    {
      archives: [archive("main"), archive("legal", { gate })],
      outages: [{ archive: "main", outage }],
    },
    "nothing is sent to legal: QUOTA_LIMIT; archive main not reached: UNREACHABLE; idle; 0 converted",
    "of several it is said which one",
  ],
  [
    { offline: ["a", "b\nX"] },
    "source of a offline; source of b?X offline; idle; 0 converted",
    "a name cannot make a second line, or another assignment",
  ],
  [
    { mirrors: [{ name: "a", unread: { directories: 1, path: "x", why: "no right" } }] },
    "folders of a cannot be read; idle; 0 converted",
    "idle is not all there is to say",
  ],
] as unknown as [Given, string, string][])("%o is %s, because %s", ([given, line]) => {
  const { outages = [], offline = [], ...report } = given;
  const archives = [archive("main")];
  const whole = { documents: noDocuments(), paused: false, archives, mirrors: [], ...report };
  expect(statusLine({ report: whole, outages, offline })).toBe(line);
});
