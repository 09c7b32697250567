import type { State } from "../domain/document.ts";
import type { Applied } from "../journal/journal.ts";
import type { SyncContext } from "./context.ts";

/** States in which a document is not under conversion any more. */
const CONCLUDED: readonly State[] = ["converted", "failed"];

/** States in which there may be something to tell a hook. */
const TOLD: readonly State[] = [...CONCLUDED, "held"];

/** Bells of loops that have their own. */
type Others = Readonly<Record<"told" | "converted", { ring(): void }>>;

/** Rings the bells of the loops that a write concerns. */
export function ringFor(
  { bells, mirrors, config }: SyncContext,
  applied: readonly Applied[],
  others: Others,
): void {
  const { conversion, quota } = config;
  // What is concluded makes room below the ceiling, or turns out to have cost fewer pages.
  const makesRoom =
    conversion.outstandingMax !== undefined || quota.pages?.monthlyPages !== undefined;
  for (const { document, change, skipped } of applied) {
    // The last one that a batch was waiting for may be gone.
    if (change.type === "forget" && !skipped) others.converted.ring();
    if (!document || skipped) continue;
    if (document.state === "settling") {
      mirrors.get(document.mirrorId)?.settling.small.ring();
      mirrors.get(document.mirrorId)?.settling.large.ring();
    }
    if (document.state === "pending") bells.sending.ring();
    if (makesRoom && CONCLUDED.includes(document.state)) bells.sending.ring();
    if (document.state === "inDoubt") bells.doubts.ring();
    if (document.state === "uploaded") bells.polling.ring();
    if (document.state === "held") bells.held.ring();
    if (document.after === "due") bells.after.ring();
    if (TOLD.includes(document.state)) others.told.ring();
    if (document.state === "converted") others.converted.ring();
  }
}
