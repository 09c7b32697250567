/** One situation for each kind of finding. */
import type { FindingKind, Situation } from "../../../src/report/finding.ts";
import type { ProblemGroup, ProblemState } from "../../../src/report/problems.ts";
import { reportOf } from "../dashboard/open-dashboard.ts";
import { noDocuments, type StatusReport } from "../../../src/report/status.ts";

const base = reportOf();
const [main] = base.archives;
const [scans] = base.mirrors;
if (!main || !scans) throw new Error("there is one of each");

/** All is well, but for what is said. */
export function aSituation(
  report: Partial<StatusReport> = {},
  more: Partial<Omit<Situation, "report">> = {},
): Situation {
  return { report: reportOf(report), problems: [], ...more };
}

/** Some documents. */
export function some(counts: Partial<StatusReport["documents"]>): Pick<StatusReport, "documents"> {
  return { documents: { ...noDocuments(), ...counts } };
}

/** Documents in problem; the first of them since 1,000, its next attempt at 61,000. */
export function problem(
  state: ProblemState,
  code: string,
  documents = 3,
  more: Partial<ProblemGroup> = {},
): ProblemGroup {
  const first = { id: 7, mirror: "scans", path: "a/b.pdf", since: 1_000, nextAttemptAt: 61_000 };
  return { state, code, documents, message: "said so", first, ...more };
}

/** The archive with what stands against it. */
export const archiveWith = (more: Partial<typeof main>, name = "main") => ({
  ...main,
  ...more,
  name,
});

/** The mirror with what stands against it. */
export const mirrorWith = (more: Partial<typeof scans>) => ({ ...scans, ...more });

/** Closed since 1,000, probed at 61,000. */
export const gateFor = (code: string) => ({
  closedAt: 1_000,
  code,
  message: "it said so",
  hint: "Buy pages.",
  nextProbeAt: 61_000,
});

/** Since 1,000, tried again at 61,000. */
export const OUTAGE = {
  since: 1_000,
  code: "ARCHIVE_UNREACHABLE",
  message: "no connection",
  hint: "Check the network.",
  nextAttemptAt: 61_000,
};

const allowance = {
  pages: 1_000,
  used: 800,
  left: 200,
  level: "low",
  runsOutAt: null,
  whenUsedUp: "warn",
  reserve: null,
  keeps: { documents: 0, mirrors: [] },
  problem: { code: "ALLOWANCE_LOW", message: "800 of 1000 pages", hint: "Buy pages." },
} as const;

/** Each kind on its own. */
export const SITUATIONS: Readonly<Record<FindingKind, Situation>> = {
  stalled: aSituation({}, { health: { healthy: false, why: "nothing has moved for 16 minutes" } }),
  gate: aSituation({
    archives: [archiveWith({ gate: gateFor("QUOTA_LIMIT") })],
    ...some({ held: 7 }),
  }),
  paused: aSituation({ paused: true, ...some({ pending: 1 }) }),
  notRunning: aSituation({ running: false, ...some({ pending: 1_200 }) }),
  outage: aSituation({ archives: [archiveWith({ outage: OUTAGE })], ...some({ pending: 2 }) }),
  failed: aSituation({}, { problems: [problem("failed", "FILE_SIZE_TOO_BIG")] }),
  source: aSituation({ mirrors: [mirrorWith({ offline: { since: 1_000, why: "not mounted" } })] }),
  unread: aSituation({
    mirrors: [mirrorWith({ unread: { directories: 2, path: "closed", why: "no permission" } })],
  }),
  unwatched: aSituation({
    mirrors: [
      mirrorWith({
        unwatched: "the limit of watched directories is reached (fs.inotify.max_user_watches)",
      }),
    ],
  }),
  held: aSituation({}, { problems: [problem("held", "SIDECAR_MISSING", 1)] }),
  stuck: aSituation({}, { problems: [problem("uploaded", "CONVERSION_STUCK", 1)] }),
  after: aSituation({
    afterPending: ["a.pdf", "b.pdf"].map((path) => ({
      mirror: "scans",
      path,
      why: "AFTER_REFUSED: no space",
      nextAttemptAt: 61_000,
    })),
  }),
  waits: aSituation({
    archives: [
      archiveWith({
        sending: {
          waits: { why: "hours", message: "outside of `upload.hours`", until: 61_000 },
          concurrency: 4,
        },
      }),
    ],
    ...some({ pending: 2 }),
  }),
  allowance: aSituation({ archives: [archiveWith({ allowance })] }),
  disk: aSituation({}, { lowDisk: { freeBytes: 499_999_999, path: "/j.db" } }),
  page: aSituation(
    {},
    { hostFaults: { page: { message: "the port is in use", hint: "Set another `web.listen`." } } },
  ),
  config: aSituation(
    {},
    {
      hostFaults: {
        config: "scanferry.yaml:3: jurnal: unknown key",
      },
    },
  ),
  formerMirror: aSituation({
    formerMirrors: [{ name: "old", source: "/srv/old", ...some({ held: 2 }) }],
  }),
  unfinished: aSituation(
    {},
    { problems: [problem("settling", "FILE_UNFINISHED", 1, { paths: ["a/b.pdf"] })] },
  ),
  sentEarly: aSituation({
    mirrors: [
      mirrorWith({ learnedSettle: { settleMs: 28_000, insteadOfMs: 3_000, learnedAt: 1_000 } }),
    ],
  }),
  kept: aSituation({
    afterFailed: [{ mirror: "scans", files: 1, path: "a.pdf", why: "FILE_CHANGED" }],
  }),
};
