/**
 * The page budget of one archive account: what its mirrors have used of the month, by the journal,
 * and so what they may send next. Warns once a month when little is left, and once when nothing is.
 * Probes of a closed gate go past it.
 */
import {
  LEVELS,
  type PagePolicy,
  type Level,
  levelOf,
  Shares,
  type Used,
} from "../domain/allowance.ts";
import { periodOf } from "../domain/calendar.ts";
import { failureOf } from "../domain/failure.ts";
import type { ArchiveState, Registry, Reports } from "../journal/journal.ts";
import type { Log } from "../std/log.ts";
import type { SyncContext } from "./context.ts";

/** A warning counts as given until so much less of the allowance is used. */
const EASED_BY = 0.05;

/** The mirrors of an account, by id. */
export type MirrorNames = ReadonlyMap<number, string>;

export type BudgetParts = {
  readonly journal: ArchiveState & Registry & Reports;
  readonly log: Log;
  readonly policy: PagePolicy;
  readonly mirrors: MirrorNames;
};

export class Budget {
  readonly policy: PagePolicy;
  readonly #parts: BudgetParts;
  readonly #named: ReadonlySet<number>;

  constructor(parts: BudgetParts) {
    this.policy = parts.policy;
    this.#parts = parts;
    this.#named = namedIn(this.policy, parts.mirrors);
  }

  /** The budget of the account that all mirrors of `context` are of. */
  static of({
    journal,
    log,
    config,
    mirrors,
  }: SyncContext<ArchiveState & Registry & Reports>): Budget {
    const names = new Map([...mirrors].map(([id, { settings }]) => [id, settings.name]));
    const policy = policyOver(config.quota.pages, names);
    return new Budget({ journal, log, policy, mirrors: names });
  }

  /** True when something is limited, or may be warned of. */
  get isKept(): boolean {
    return this.policy.monthlyPages !== undefined;
  }

  /** When the month that `now` is in ends; never without an allowance. */
  endOf(now: number): number {
    return this.isKept ? periodOf(now, this.policy.monthBegins).to : Number.POSITIVE_INFINITY;
  }

  /** What each mirror may send at `now`. */
  async shares(now: number): Promise<Shares> {
    if (!this.isKept) return new Shares(this.policy, this.#named, { named: 0, others: 0 });
    const { journal, mirrors } = this.#parts;
    const { from, to } = periodOf(now, this.policy.monthBegins);
    const used = await usedOf(journal, this.#named, mirrors, { from, to });
    await this.#warn(used, from);
    return new Shares(this.policy, this.#named, used);
  }

  async #warn(used: Used, from: number): Promise<void> {
    const { journal, log } = this.#parts;
    const known = await journal.warned();
    const isNew = known.from !== from;
    if (isNew && known.level > 0) log.info({}, "a new month of the page allowance has begun");
    const before = isNew ? 0 : known.level;
    const level = LEVELS.indexOf(levelOf(this.policy, used));
    // A larger allowance may be warned of again; a page more or less around a mark is not.
    const eased = LEVELS.indexOf(levelOf(this.policy, used, EASED_BY));
    const next = Math.max(level, Math.min(before, eased));
    if (isNew ? next > 0 || known.level > 0 : next !== before)
      await journal.setWarned({ from, level: next });
    if (level <= before) return;
    const { code, message } = allowanceProblem(this.policy, used) ?? { code: "", message: "" };
    log.warn({ code }, `${message}. ${failureOf(code).hint}`);
  }
}

/** The policy of one account of several: a reserve for mirrors that are none of its keeps nothing back. */
export function policyOver(policy: PagePolicy, mirrors: MirrorNames): PagePolicy {
  if (namedIn(policy, mirrors).size > 0) return policy;
  const { reserve: _, ...rest } = policy;
  return rest;
}

/** Ids of the mirrors that the reserve is for. */
export function namedIn({ reserve }: PagePolicy, mirrors: MirrorNames): ReadonlySet<number> {
  const ids = [...mirrors].filter(([, name]) => reserve?.mirrors.includes(name));
  return new Set(ids.map(([id]) => id));
}

/**
 * Pages that an account has used between two moments, with what may be charged just now: by these mirrors of it, and
 * by those that are no longer configured.
 */
export async function usedOf(
  journal: Registry & Reports,
  named: ReadonlySet<number>,
  mirrors: MirrorNames,
  { from, to }: { from: number; to: number },
): Promise<Used> {
  const used = { named: 0, others: 0 };
  const rows = await journal.mirrors();
  const archives = new Set(
    rows.filter(({ id }) => mirrors.has(id)).map(({ archiveId }) => archiveId),
  );
  const own = new Set(rows.filter(({ archiveId }) => archives.has(archiveId)).map(({ id }) => id));
  for (const { mirrorId, pages } of await journal.pagesUsed(from, to))
    if (own.has(mirrorId)) used[named.has(mirrorId) ? "named" : "others"] += pages;
  return used;
}

const CODES: Readonly<Record<Level, string | undefined>> = {
  ok: undefined,
  low: "ALLOWANCE_LOW",
  usedUp: "ALLOWANCE_USED",
};

/** What there is to be told about the allowance; null while there is enough. */
export function allowanceProblem(
  policy: PagePolicy,
  used: Used,
): { code: string; message: string } | null {
  const code = CODES[levelOf(policy, used)];
  if (code === undefined) return null;
  const pages = used.named + used.others;
  const message = `${pages} of this month's ${policy.monthlyPages} pages are used`;
  return { code, message };
}
