import type { State } from "../domain/document.ts";
import type { StatusReport } from "./status.ts";

/** What of a document decides who has to do something with it. */
export type Waiter = { readonly mirror: string; readonly state: State };

/**
 * Why nothing goes on with a document though nothing is wrong with itself: what a person stopped, then what stops
 * its archive, its source, its daemon. Null where nothing does.
 */
export function whyWaits(report: StatusReport, { mirror: name, state }: Waiter): string | null {
  if (["converted", "failed", "held"].includes(state)) return null;
  const { running, archives, mirrors } = report;
  const mirror = mirrors.find((one) => one.name === name);
  if (!mirror) return `its mirror ${name} is not in the configuration`;
  const archive = archives.find((one) => one.name === mirror.archive);
  const why = [
    state === "pending" ? whyUnsent(report, archive) : null,
    archive?.outage && state !== "settling"
      ? `the archive is not reached: ${archive.outage.message}`
      : null,
    mirror.offline && (state === "settling" || state === "pending")
      ? `the source is offline: ${mirror.offline.why}`
      : null,
    running ? null : "scanferry is not running: scanferry run, or scanferry sync",
  ];
  return why.find((one) => one !== null) ?? null;
}

/** What keeps new documents from being sent, but not those that were sent from going on. */
function whyUnsent(
  { paused }: StatusReport,
  archive: StatusReport["archives"][number] | undefined,
): string | null {
  if (paused) return "sending is paused: scanferry resume sends again";
  if (archive?.gate) return `nothing is sent: ${archive.gate.message}`;
  return archive?.sending.waits ? `nothing new is sent: ${archive.sending.waits.message}` : null;
}
