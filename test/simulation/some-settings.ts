import { CHANGES_PER_HOUR } from "../../src/domain/change-rate.ts";
import type { Mirror } from "../../src/config/config.ts";
import { NO_ALLOWANCE, type PagePolicy } from "../../src/domain/allowance.ts";
import { ORDERS } from "../../src/domain/feed.ts";
import { NO_RULES } from "../../src/rules/rules.ts";
import type { SyncContext } from "../../src/sync/context.ts";
import type { Dice } from "./dice.ts";

const SECOND = 1_000;
const MINUTE = 60_000;

/** Settings of the loops, with waits short enough for a history to come to rest soon. */
export function someConfig(dice: Dice): SyncContext["config"] {
  const config = someWaits(dice);
  // Everything there has one page, in the archive too.
  if (!dice.chance(0.15)) return config;
  const pages: PagePolicy = {
    ...NO_ALLOWANCE,
    monthlyPages: dice.int(1, 8),
    whenUsedUp: dice.chance(0.6) ? "hold" : "warn",
  };
  return { ...config, quota: { ...config.quota, pages } };
}

function someWaits(dice: Dice): SyncContext["config"] {
  return {
    upload: {
      concurrency: dice.int(1, 4),
      retry: { initialMs: SECOND, maxMs: 30 * SECOND },
      doubt: { windowMs: 3 * MINUTE, toleranceMs: MINUTE },
    },
    batch: { quietMs: 5 * SECOND, maxDocuments: 20 },
    quota: { retry: { initialMs: 5 * SECOND, maxMs: MINUTE }, retryAt: undefined },
    conversion: {
      poll: { initialMs: 2 * SECOND, maxMs: 30 * SECOND },
      stuckAfterMs: 60 * MINUTE,
    },
  };
}

/** Settings of one mirror into the archive folder `path`. */
export function someMirror(
  dice: Dice,
  mirrorId: number,
  path: string,
  mode: "native" | "polling",
): Mirror {
  const after = dice.weighted([
    [3, { kind: "keep" } as const],
    [1, { kind: "delete" } as const],
    [1, { kind: "move", to: "/srv/done" } as const],
  ]);
  const missingFolder = dice.weighted([
    [4, { kind: "hold" } as const],
    [1, { kind: "nearest" } as const],
    [1, { kind: "fallback", path: "/Inbox" } as const],
  ]);
  return {
    name: `mirror-${mirrorId}`,
    source: `/srv/${mirrorId}`,
    archive: "main",
    target: { path },
    include: ["**/*"],
    exclude: dice.chance(0.25) ? ["b/**", "**/2.*"] : [],
    watch: mode,
    settleMs: 3 * SECOND,
    incompleteMs: 5 * MINUTE,
    stillIncomplete: "hold",
    missingFolder,
    firstRun: "upload",
    changed: dice.chance(0.1) ? "ignore" : "upload",
    changesPerHour: CHANGES_PER_HOUR,
    after,
    rules: { ...NO_RULES, order: dice.pick(ORDERS) ?? "oldest" },
  };
}
