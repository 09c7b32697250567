import { CHANGES_PER_HOUR } from "../../../src/domain/change-rate.ts";
import type { Mirror } from "../../../src/config/config.ts";

import { NO_RULES } from "../../../src/rules/rules.ts";

/** A mirror with nothing special about it; `set` says what is. */
export function aMirror(set: Partial<Mirror> = {}): Mirror {
  return {
    name: "scans",
    source: "/srv/scans",
    archive: "main",
    target: { path: "/Scans" },
    include: ["**/*"],
    exclude: [],
    watch: "auto",
    settleMs: 3_000,
    incompleteMs: 600_000,
    stillIncomplete: "hold",
    missingFolder: { kind: "hold" },
    firstRun: "hold",
    changed: "upload",
    changesPerHour: CHANGES_PER_HOUR,
    after: { kind: "keep" },
    rules: NO_RULES,
    ...set,
  };
}
