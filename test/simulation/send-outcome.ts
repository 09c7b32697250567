import type { ArchiveError } from "../../src/archive/archive-error.ts";
import { isPressed } from "../../src/archive/pressure.ts";
import { troubleOf } from "../../src/archive/trouble.ts";
import type { Outcome } from "../../src/domain/outcome.ts";

/** What a reader reports of an upload that did not succeed. */
export function outcomeOf(error: ArchiveError): Outcome {
  const trouble = troubleOf(error);
  const load = { retryAfterMs: error.retryAfterMs ?? null, pressed: isPressed(error) };
  if (error.kind === "inDoubt") return { kind: "lost", trouble, ...load };
  return { kind: error.kind === "notSent" ? "notSent" : "refused", trouble, ...load };
}

export function offline() {
  return { code: "SOURCE_OFFLINE", message: "not mounted" };
}

export function unreadable() {
  return { code: "FILE_UNREADABLE", message: "permission denied" };
}
