import { messageOf } from "../std/fault.ts";
import type { Finding } from "../report/finding.ts";
import type { DashboardOptions, Health } from "./options.ts";
import { Refusal } from "./refusal.ts";
import type { StatusReport } from "../report/status.ts";

/** What the page shows at the top: the report of `status --json`, and what only the daemon knows. */
export type Snapshot = StatusReport & {
  readonly version: string;
  /** When the report was made, epoch milliseconds: the page's clock may be another. */
  readonly at: number;
  readonly health: Health;
  /** People sign in, and can sign out. */
  readonly signsIn: boolean;
  /** There are a log and a configuration to look at. */
  readonly inspects: boolean;
  /** What is wrong and what waits, the most important first. */
  readonly findings: readonly Finding[];
};

/** Makes a snapshot; rejects when the journal cannot be read. */
export async function snapshotOf(options: DashboardOptions): Promise<Snapshot> {
  assertJournal(options);
  const { report, findings, health } = await options.standing();
  const { version, clock, token = "", inspection } = options;
  const page = { signsIn: token !== "", inspects: inspection !== undefined };
  return { ...report, version, at: clock.now(), health, ...page, findings };
}

/** Throws a `Refusal` while the journal is away: a question to it would wait for as long as that lasts. */
export function assertJournal({ away, fault }: DashboardOptions): void {
  const why = away?.();
  if (why === undefined) return;
  const hint = "Start its database, or repair the way to it; all continues automatically.";
  const known = fault?.() ?? { code: "JOURNAL_UNREACHABLE", hint };
  throw new Refusal(503, known.code, why, known.hint);
}

/** The daemon's health; a question that fails is an answer too. */
export async function healthOf({ health }: DashboardOptions): Promise<Health> {
  try {
    return await health();
  } catch (error) {
    return { healthy: false, ready: false, why: `health is not known: ${messageOf(error)}` };
  }
}
