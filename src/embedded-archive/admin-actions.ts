import type { Context } from "./archive-context.ts";
import { faultRulesOf } from "./fault-rules.ts";
import { FaultSchedule } from "./faults.ts";
import { makeFolder } from "./make-folder.ts";
import type { FolderDescription } from "./folder-table.ts";
import type { Account } from "./store.ts";

/** A request that administration cannot do anything with. */
export class Unusable extends Error {
  readonly status: 400 | 404;

  constructor(message: string, status: 400 | 404 = 400) {
    super(message);
    this.status = status;
  }
}

/** The body of a request: a JSON object. */
export type Body = Record<string, unknown>;

/** What can be changed; each takes the body and returns the reply. */
export const ACTIONS: {
  readonly [path: string]: (context: Context, body: Body) => Record<string, unknown>;
} = {
  "/folders": (context, body) => {
    const { account, path, ...given } = partsOf(body, "account", "path", ...DESCRIPTION);
    if (typeof path !== "string") throw new Unusable("path is no text");
    const description = descriptionOf(given);
    const id = makeFolder(context, accountOf(context, account), path);
    context.store.folders.describe(id, description);
    context.expiry.poke();
    return { id };
  },
  "/quota": (context, body) => {
    const { account, pages } = partsOf(body, "account", "pages");
    const isCount = Number.isSafeInteger(pages) && Number(pages) >= 0;
    if (pages !== null && !isCount) throw new Unusable("pages is no whole number and not null");
    const { id } = accountOf(context, account);
    setQuota(context, id, pages === null ? undefined : Number(pages));
    return { pagesUsed: context.store.pagesUsed(id), pages };
  },
  "/plugin": (context, body) => {
    const { reminder } = partsOf(body, "reminder");
    if (typeof reminder !== "boolean") throw new Unusable("reminder is neither true nor false");
    context.reminderPlugin = reminder;
    return { reminder };
  },
  "/faults": (context, body) => {
    const { plan } = partsOf(body, "plan");
    const rules = plan === null ? [] : faultRulesOf(plan);
    context.faults = new FaultSchedule(rules);
    return { rules: rules.length };
  },
};

const TEXTS = ["index", "description", "keywords"] as const;
const DESCRIPTION = [...TEXTS, "expireDate"] as const;

/** What a folder is to say of its own; what is absent stays as it is. */
function descriptionOf(
  given: { [name in (typeof DESCRIPTION)[number]]?: unknown },
): FolderDescription {
  const { expireDate } = given;
  const wrong = TEXTS.find((name) => given[name] !== undefined && typeof given[name] !== "string");
  if (wrong !== undefined) throw new Unusable(`${wrong} is no text`);
  if (expireDate !== undefined && expireDate !== null && !Number.isSafeInteger(expireDate))
    throw new Unusable("expireDate is no time in epoch milliseconds and not null");
  return given as FolderDescription;
}

/** Sets an account's page allowance, now and for later runs; undefined: unlimited. */
export function setQuota(context: Context, accountId: number, pages: number | undefined): void {
  context.store.setAllowance(accountId, pages ?? -1);
  context.quotas.set(accountId, pages);
}

/** The account with this key; the first one when none is given. Throws `Unusable`, status 404, without one. */
export function accountOf({ accounts }: Context, key: unknown): Account {
  const isNamed = key !== undefined && key !== null;
  const named = typeof key === "string" ? accounts.get(key) : undefined;
  const account = isNamed ? named : [...accounts.values()][0];
  if (!account) throw new Unusable(`there is no account ${JSON.stringify(key)}`, 404);
  return account;
}

/** The body, which may have no parts but these. */
function partsOf<const N extends string>(body: Body, ...names: N[]): { [K in N]?: unknown } {
  const unknown = Object.keys(body).find((name) => !(names as string[]).includes(name));
  if (unknown !== undefined) throw new Unusable(`there is no part ${JSON.stringify(unknown)} here`);
  return body as { [K in N]?: unknown };
}
