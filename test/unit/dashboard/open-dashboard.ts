import { request } from "node:http";
import type { Document } from "../../../src/domain/document.ts";
import { Dashboard, type DashboardOptions, type Health } from "../../../src/dashboard/dashboard.ts";
import { systemClock } from "../../../src/std/clock.ts";
import { silentLog } from "../../../src/std/log.ts";
import { standingOf } from "../../../src/report/standing.ts";
import type { ShownDocument } from "../../../src/sync/first-run-choice.ts";
import { scriptedJournal } from "./scripted-journal.ts";
import { noDocuments, type StatusReport } from "../../../src/report/status.ts";
import { NO_ALLOWANCE } from "../../fixtures/a-config.ts";
import { NO_NOTE } from "../../../src/sync/away.ts";
import { noPages } from "../../../src/report/page-report.ts";

/** A mirror of a report over which a test lays what it is about. */
export function mirrorReportOf(fields: Partial<MirrorReport> = {}): MirrorReport {
  return {
    name: "scans",
    source: "/srv/scans",
    archive: "main",
    target: "/Scans",
    watch: "native",
    ...NO_NOTE,
    learnedSettle: null,
    documents: noDocuments(),
    oldestAt: {},
    ...fields,
  };
}

type MirrorReport = StatusReport["mirrors"][number];

/** A report over which a test lays what it is about. */
export function reportOf(fields: Partial<StatusReport> = {}): StatusReport {
  const quota = { blockedSince: null, nextProbeAt: null };
  const allowance = fields.pages?.allowance ?? null;
  const { gate = null, sending = { waits: null, concurrency: 4 } } = fields;
  const url = "https://archive.example.com";
  const archive = { name: "main", url, quota, gate, sending, outage: null, allowance };
  return {
    running: true,
    paused: false,
    documents: noDocuments(),
    quota,
    gate,
    sending,
    archives: [archive],
    mirrors: [mirrorReportOf()],
    formerMirrors: [],
    instances: [],
    pages: noPages(NO_ALLOWANCE, 0),
    duplicates: { documents: 0, pages: 0 },
    undelivered: 0,
    movedDocuments: 0,
    moved: [],
    afterPending: [],
    afterFailed: [],
    foldersToCreate: [],
    ...fields,
  };
}

export const WELL: Health = { healthy: true, ready: true, why: "work is moving" };

/** Where a test's report comes from, and what is said of the daemon. */
export type Told = {
  readonly status?: () => Promise<StatusReport>;
  readonly health?: () => Promise<Health>;
};

/** What a daemon would make of these. */
export function standingBy(
  journal: DashboardOptions["journal"],
  { status = async () => reportOf(), health = async () => WELL }: Told,
): DashboardOptions["standing"] {
  return async () => {
    const said = await health();
    return {
      ...(await standingOf(journal, await status(), { health: said, hostFaults: {} })),
      health: said,
    };
  };
}

/** A dashboard on a free port of loopback, over `rows`; `asked` tells which actions were taken. */
export async function openDashboard(
  options: Partial<DashboardOptions> & Told & { rows?: readonly Document[] } = {},
): Promise<{ dashboard: Dashboard; port: number; asked: string[] } & AsyncDisposable> {
  const { rows = [], status, ...others } = options;
  const { journal = scriptedJournal(rows), health = async () => WELL } = others;
  const told = status ? { status, health } : { health };
  const asked: string[] = [];
  const chosen = (action: string, shown: readonly ShownDocument[]) => {
    asked.push(`${action} ${shown.map(({ id, digest }) => `${id} ${digest.slice(0, 4)}`).join()}`);
    return { documents: shown.length, unclear: 0, changed: 0 };
  };
  const dashboard = await Dashboard.open({
    listen: { host: "127.0.0.1", port: 0 },
    journal,
    standing: standingBy(journal, told),
    health,
    log: silentLog,
    clock: systemClock,
    version: "0.0.0-test",
    actions: {
      retry: async (chosen, anyway) => {
        const which = "state" in chosen ? `${chosen.state} ${chosen.code}` : chosen.join(",");
        return asked.push(`retry ${which}${anyway ? " anyway" : ""}`);
      },
      adopt: async (shown) => chosen("adopt", shown),
      sendAsNew: async (shown) => chosen("sendAsNew", shown),
      pause: async () => void asked.push("pause"),
      resume: async () => void asked.push("resume"),
      rescan: async () => void asked.push("rescan"),
    },
    ...others,
  });
  const port = Number(new URL(dashboard.url).port);
  return { dashboard, port, asked, [Symbol.asyncDispose]: () => dashboard.close() };
}

export type Asked = {
  readonly port: number;
  readonly method?: string;
  readonly path: string;
  /** Undefined leaves a header out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
};

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
};

/** One request over a real socket, with headers that `fetch` would not let us forge. */
export function ask({ port, method = "GET", path, headers = {}, body }: Asked): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const given = Object.entries(headers).filter((entry): entry is [string, string] => !!entry[1]);
  const outgoing = request(
    { host: "127.0.0.1", port, method, path, headers: Object.fromEntries(given), agent: false },
    (reply) => {
      const done = (text: string) =>
        resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: text });
      // A stream of events has no end: its head is the answer.
      if (reply.headers["content-type"] === "text/event-stream") {
        done("");
        reply.destroy();
        return;
      }
      let text = "";
      reply.setEncoding("utf8").on("data", (part: string) => (text += part));
      reply.on("end", () => done(text));
      reply.on("error", reject);
    },
  );
  outgoing.on("error", reject);
  outgoing.end(body);
  return promise;
}

/** The headers of a request that the page itself would send. */
export const DELIBERATE = { "x-scanferry": "1", "content-type": "application/json" };
