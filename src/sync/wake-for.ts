import type { State } from "../domain/document.ts";
import type { Applied } from "../journal/journal.ts";
import type { SyncContext } from "./context.ts";

/** States in which a document is not under conversion any more. */
const CONCLUDED: readonly State[] = ["converted", "failed"];

/** States in which there may be something to tell a hook. */
const TOLD: readonly State[] = [...CONCLUDED, "held"];

/** Wakeups of loops that have their own. */
type Others = Readonly<Record<"told" | "converted", { notify(): void }>>;

/** Rings the wake-ups of the loops that a write concerns. */
export function wakeFor(
  { wakeups, mirrors, config }: SyncContext,
  applied: readonly Applied[],
  others: Others,
): void {
  const { conversion, quota } = config;
  // What is concluded makes room below the ceiling, or turns out to have cost fewer pages.
  const makesRoom =
    conversion.outstandingMax !== undefined || quota.pages?.monthlyPages !== undefined;
  for (const { document, change, skipped } of applied) {
    // The last one that a batch was waiting for may be gone.
    if (change.type === "forget" && !skipped) others.converted.notify();
    if (!document || skipped) continue;
    if (document.state === "settling") {
      mirrors.get(document.mirrorId)?.settling.small.notify();
      mirrors.get(document.mirrorId)?.settling.large.notify();
    }
    if (document.state === "pending") wakeups.sending.notify();
    if (makesRoom && CONCLUDED.includes(document.state)) wakeups.sending.notify();
    if (document.state === "inDoubt") wakeups.doubts.notify();
    if (document.state === "uploaded") wakeups.polling.notify();
    if (document.state === "held") wakeups.held.notify();
    if (document.after === "due") wakeups.after.notify();
    if (TOLD.includes(document.state)) others.told.notify();
    if (document.state === "converted") others.converted.notify();
  }
}
