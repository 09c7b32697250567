/** Pages as `status` tells them: used, waiting, left, and how long that lasts; from the journal alone. */
import {
  chargeOf,
  leftFor,
  type Level,
  levelOf,
  mayUse,
  type PagePolicy,
  runsOutAt,
  type Used,
} from "../domain/allowance.ts";
import { dayStart, periodOf } from "../domain/calendar.ts";
import type { Document } from "../domain/document.ts";
import { failureOf } from "../domain/failure.ts";
import type { Registry, Reports, WaitingPages } from "../journal/journal.ts";
import { sumOf, type UsageBucket } from "../journal/usage-bucket.ts";
import { allowanceProblem, type MirrorNames, namedIn, policyOver, usedOf } from "../sync/budget.ts";
import { invariant } from "../std/fault.ts";
import type { WaitReason } from "../sync/pace.ts";

/** The rate is that of so many days, or of those since anything was sent. */
const RATE_DAYS = 7;
const DAY_MS = 86_400_000;

/** Documents, their pages as far as they were counted, and how many of them were not. */
export type Pages = {
  readonly documents: number;
  readonly pages: number;
  readonly unknown: number;
};

/** Pages of some time, as the archive charged them, as far as can be known. */
export type PageSums = {
  readonly today: number;
  readonly month: number;
  /** Pages that duplicates would have cost this month. */
  readonly saved: number;
  /** What waits to be sent, held documents too; those that are settling are not counted yet. */
  readonly waiting: Pages;
};

/** Times are epoch milliseconds. */
export type PageReport = PageSums & {
  /** The account's month. */
  readonly from: number;
  readonly to: number;
  /** Pages a day, lately. */
  readonly perDay: number;
  readonly mirrors: readonly (PageSums & { readonly mirror: string })[];
  /** Null where none is configured. */
  readonly allowance: AllowanceReport | null;
};

/** How far an account's pages go this month. Counts of A4 pages. */
export type AllowanceReport = {
  readonly pages: number;
  /** This month's, with what may be charged just now. */
  readonly used: number;
  /** May be less than none. */
  readonly left: number;
  readonly level: Level;
  /** When it is used up at this rate; null: not before it is renewed. */
  readonly runsOutAt: number | null;
  readonly whenUsedUp: PagePolicy["whenUsedUp"];
  readonly reserve: {
    readonly pages: number;
    readonly left: number;
    readonly mirrors: readonly string[];
  } | null;
  /** What does not fit what its mirror has left: it waits until the month is renewed. */
  readonly keeps: { readonly documents: number; readonly mirrors: readonly string[] };
  readonly problem: {
    readonly code: string;
    readonly message: string;
    readonly hint: string;
  } | null;
};

/** What the report is about: an account's mirrors and its policy. */
export type AccountMirrors = {
  readonly policy: PagePolicy;
  readonly mirrors: MirrorNames;
};

/** The account that these mirrors are of, as far as the journal knows them. */
export async function accountOf(
  journal: Registry,
  policy: PagePolicy,
  configured: readonly { readonly name: string }[],
): Promise<AccountMirrors> {
  const names = new Set(configured.map(({ name }) => name));
  const rows = (await journal.mirrors()).filter(({ name }) => names.has(name));
  const mirrors = new Map(rows.map(({ id, name }) => [id, name]));
  return { policy: policyOver(policy, mirrors), mirrors };
}

/** Reads the report as of `now`. */
export async function pageReportOf(
  journal: Registry & Reports,
  { policy, mirrors }: AccountMirrors,
  now: number,
): Promise<PageReport> {
  const { from, to } = periodOf(now, policy.monthBegins);
  const since = Math.min(from, dayStart(now), now - RATE_DAYS * DAY_MS);
  const isOurs = ({ mirrorId }: { mirrorId: number }) => mirrors.has(mirrorId);
  const usageBuckets = (await journal.usageBuckets(since, Number.MAX_SAFE_INTEGER)).filter(isOurs);
  const waiting = (await journal.waitingPages()).filter(isOurs);
  const perDay = rateOf(usageBuckets, now);
  const named = namedIn(policy, mirrors);
  const used = await usedOf(journal, named, mirrors, { from, to });
  const keeps = await keptIn(journal, { policy, mirrors, named, used }, waiting);
  return {
    from,
    to,
    ...sumsOf(usageBuckets, waiting, from, now),
    perDay,
    mirrors: [...mirrors].map(([id, mirror]) => {
      const own = ({ mirrorId }: { mirrorId: number }) => mirrorId === id;
      return { mirror, ...sumsOf(usageBuckets.filter(own), waiting.filter(own), from, now) };
    }),
    allowance: allowanceOf(policy, used, { perDay, now, to, keeps }),
  };
}

/** The reports of several accounts together; the allowance is the one of which the least is left. */
export function pagesOfAll(reports: readonly PageReport[]): PageReport {
  const [first, ...rest] = reports;
  invariant(first, "there is an account at least");
  return rest.reduce((all, report) => {
    const { waiting } = report;
    const least = [all.allowance, report.allowance].filter((allowance) => allowance !== null);
    return {
      ...all,
      today: all.today + report.today,
      month: all.month + report.month,
      saved: all.saved + report.saved,
      waiting: {
        documents: all.waiting.documents + waiting.documents,
        pages: all.waiting.pages + waiting.pages,
        unknown: all.waiting.unknown + waiting.unknown,
      },
      perDay: all.perDay + report.perDay,
      mirrors: [...all.mirrors, ...report.mirrors],
      allowance: least.toSorted((a, b) => a.left - b.left)[0] ?? null,
    };
  }, first);
}

/** Before there is a journal. */
export function noPages(policy: PagePolicy, now: number): PageReport {
  const { from, to } = periodOf(now, policy.monthBegins);
  const keeps = { documents: 0, mirrors: [] };
  return {
    from,
    to,
    ...sumsOf([], [], from, now),
    perDay: 0,
    mirrors: [],
    allowance: allowanceOf(policy, { named: 0, others: 0 }, { perDay: 0, now, to, keeps }),
  };
}

function sumsOf(
  usageBuckets: readonly UsageBucket[],
  waiting: readonly WaitingPages[],
  from: number,
  now: number,
): PageSums {
  const sumSince = (start: number) => sumOf(usageBuckets.filter(({ at }) => at >= start));
  const { charged, saved } = sumSince(from);
  const total = (key: "documents" | "pages" | "unknown") =>
    waiting.reduce((sum, row) => sum + row[key], 0);
  return {
    today: sumSince(dayStart(now)).charged,
    month: charged,
    saved,
    waiting: { documents: total("documents"), pages: total("pages"), unknown: total("unknown") },
  };
}

/** Pages a day; of a day at least, so that one busy hour is not taken for many. */
function rateOf(usageBuckets: readonly UsageBucket[], now: number): number {
  const lately = usageBuckets.filter(({ at }) => at >= now - RATE_DAYS * DAY_MS);
  const first = lately[0]?.at ?? now;
  const days = Math.min(RATE_DAYS, Math.max(1, (now - first) / DAY_MS));
  return Math.max(0, Math.round(sumOf(lately).charged / days));
}

function allowanceOf(
  policy: PagePolicy,
  used: Used,
  {
    perDay,
    now,
    to,
    keeps,
  }: { perDay: number; now: number; to: number; keeps: AllowanceReport["keeps"] },
): AllowanceReport | null {
  const { monthlyPages, whenUsedUp, reserve } = policy;
  if (monthlyPages === undefined) return null;
  const left = monthlyPages - used.named - used.others;
  const problem = allowanceProblem(policy, used);
  return {
    pages: monthlyPages,
    used: used.named + used.others,
    left,
    level: levelOf(policy, used),
    runsOutAt: runsOutAt(left, perDay, now, to),
    whenUsedUp,
    reserve: reserve
      ? {
          pages: reserve.pages,
          left: Math.max(0, Math.min(reserve.pages - used.named, leftFor(policy, used, true))),
          mirrors: reserve.mirrors,
        }
      : null,
    keeps,
    problem: problem && { ...problem, hint: failureOf(problem.code).hint },
  };
}

type Kept = {
  readonly policy: PagePolicy;
  readonly mirrors: MirrorNames;
  readonly named: ReadonlySet<number>;
  readonly used: Used;
};

/** What is ready and needs more pages than its mirror may use. */
async function keptIn(
  journal: Reports,
  { policy, mirrors, named, used }: Kept,
  waiting: readonly WaitingPages[],
): Promise<AllowanceReport["keeps"]> {
  const keeping: string[] = [];
  let documents = 0;
  for (const { mirrorId, state, documents: all } of waiting) {
    const left = mayUse(policy, used, named.has(mirrorId));
    if (state !== "pending" || left === Number.POSITIVE_INFINITY) continue;
    const kept = left <= 0 ? all : await journal.pendingOver(mirrorId, left);
    documents += kept;
    if (kept > 0) keeping.push(mirrors.get(mirrorId) ?? "");
  }
  return { documents, mirrors: keeping };
}

/** Why nothing is sent at all, where every document that is ready needs more pages than are left. */
export function allowanceWait({ allowance, to }: PageReport, pending: number): WaitReason | null {
  if (allowance === null || allowance.keeps.documents < Math.max(1, pending)) return null;
  const { left, pages } = allowance;
  const message = `${Math.max(0, left)} of this month's ${pages} pages are left (\`quota.monthlyPages\`)`;
  return { why: "allowance", message, until: to };
}

/** Why this document is not sent before the month is renewed; null where pages do not keep it. */
export async function whyKept(
  journal: Registry & Reports,
  { policy, mirrors }: AccountMirrors,
  document: Document,
  now: number,
): Promise<string | null> {
  const { from, to } = periodOf(now, policy.monthBegins);
  const named = namedIn(policy, mirrors);
  const used = await usedOf(journal, named, mirrors, { from, to });
  const left = mayUse(policy, used, named.has(document.mirrorId));
  const charge = chargeOf(document);
  if (document.state !== "pending" || charge <= left) return null;
  return `it waits for the month to be renewed: ${charge} of its pages, ${left} left for its mirror`;
}
