import type { Mirror } from "../../src/config/config.ts";
import type { Hooks } from "../../src/config/mirror-section.ts";
import type { PagePolicy } from "../../src/domain/allowance.ts";
import { ORDERS } from "../../src/domain/feed.ts";
import { NO_RULES } from "../../src/rules/rules.ts";
import type { SyncContext } from "../../src/sync/context.ts";
import { NO_ALLOWANCE, aConfig, aMirror } from "../fixtures/a-config.ts";
import type { Dice } from "./dice.ts";

const SECOND = 1_000;
const MINUTE = 60_000;

/** Short enough for a history to come to rest soon. */
const WAITS = aConfig(`
upload: { retry: { max: 30s }, doubt: { window: 3m } }
batch: { maxDocuments: 20 }
quota: { retry: { initial: 5s, max: 1m } }
conversion: { poll: { max: 30s }, stuckAfter: 1h }
`);

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
  return { ...WAITS, upload: { ...WAITS.upload, concurrency: dice.int(1, 4) } };
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
  const sidecar = dice.weighted([
    [8, "none"],
    [1, "optional"],
    [1, "required"],
  ] as const);
  const by = dice.weighted([
    [7, "quiet"],
    [1, "marker"],
    [1, "rename"],
  ] as const);
  const minAgeMs = dice.chance(0.1) ? dice.int(1, 10) * MINUTE : 0;
  return aMirror({
    name: `mirror-${mirrorId}`,
    source: `/srv/${mirrorId}`,
    target: { path },
    exclude: dice.chance(0.25) ? ["b/**", "**/2.*"] : [],
    watch: mode,
    settleMs: 3 * SECOND,
    incompleteMs: 5 * MINUTE,
    missingFolder,
    firstRun: "upload",
    changed: dice.chance(0.1) ? "ignore" : "upload",
    stillIncomplete: dice.chance(0.3) ? "upload" : "hold",
    after,
    hooks: dice.chance(0.25) ? someHooks(dice) : undefined,
    rules: {
      ...NO_RULES,
      sidecar,
      ready: { ...NO_RULES.ready, by, minAgeMs },
      order: dice.pick(ORDERS) ?? "oldest",
      duplicates: dice.chance(0.2) ? "skip" : "upload",
    },
  });
}

/** True for a mirror whose files go by themselves: nothing is to stand next to them or to pass, and no hook is called. */
export function isPlain({ rules: { ready, sidecar }, hooks }: Mirror): boolean {
  return ready.by === "quiet" && ready.minAgeMs === 0 && sidecar === "none" && !hooks;
}

/** A hook that is asked before documents are sent, one that is told what became of them, or both. */
export function someHooks(dice: Dice): Hooks {
  const timeoutMs = 30 * SECOND;
  const which = dice.pick(["before", "after", "both"] as const) ?? "both";
  const before: Hooks = {
    before: {
      command: ["ask"],
      timeoutMs,
      concurrency: dice.int(1, 3),
      onFailure: dice.chance(0.5) ? "hold" : "send",
      afterVeto: dice.chance(0.5) ? { kind: "keep" } : { kind: "move", to: "/srv/vetoed" },
    },
  };
  const after: Hooks = { after: { command: ["tell"], timeoutMs, concurrency: dice.int(1, 3) } };
  return { ...(which === "after" ? {} : before), ...(which === "before" ? {} : after) };
}
