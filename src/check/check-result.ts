import { ArchiveError } from "../archive/archive-error.ts";
import { Fault } from "../std/fault.ts";
import type { ConfigPlaces } from "../config/config-file.ts";
import type { Clock, Random } from "../std/clock.ts";

/** One thing that was examined. */
export type CheckResult = {
  readonly level: "ok" | "warn" | "FAIL";
  readonly what: string;
  /** What to do about it; null where nothing is to be done. */
  readonly fix: string | null;
  /** The configuration cannot be used for it. */
  readonly unusable?: Fault;
  /** Documents are held or failed. */
  readonly isUnsettled?: boolean;
};

/** As it should be. */
export function ok(what: string): CheckResult {
  return { level: "ok", what, fix: null };
}

/** It works, and may cause problems later; `fix` says what to do. */
export function warn(what: string, fix: string): CheckResult {
  return { level: "warn", what, fix };
}

/** It does not work; `fix` says what to do. */
export function fail(what: string, fix: string): CheckResult {
  return { level: "FAIL", what, fix };
}

/** The finding that an expected failure is; anything else is a bug and thrown again. */
export function failOf(what: string, error: unknown): CheckResult {
  if (!(error instanceof Fault)) throw error;
  const said =
    error instanceof ArchiveError && !error.message.includes(error.code)
      ? `${error.code}: ${error.message}`
      : error.message;
  const finding = fail(`${what}: ${said}`, error.hint);
  return isUnusable(error) ? { ...finding, unusable: error } : finding;
}

const UNUSABLE_SIGNING = new Set([
  "SIGNING_SECRET_MISSING",
  "SIGNING_ALGORITHM_UNKNOWN",
  "SIGNING_MODULE_UNFIT",
]);

/** True for a mistake of the configuration that is found only when a request is to be signed. */
export function isUnusable(error: unknown): error is Fault {
  return error instanceof Fault && UNUSABLE_SIGNING.has(error.code);
}

/** What an examination is made with. */
export type Means = {
  /** Where the configuration was found. */
  readonly places: ConfigPlaces;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborts when the process is asked to stop. */
  readonly stopping: () => AbortSignal;
};
