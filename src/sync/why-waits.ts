import type { State } from "../domain/document.ts";
import type { StatusReport } from "./status.ts";

/** What of a document decides who has to do something with it. */
export type Waiter = { readonly mirror: string; readonly state: State };

/**
 * Why nothing goes on with a document though nothing is wrong with itself: what a person stopped, then what stops
 * its archive, its source, its daemon. Null where nothing does. `status` is asked only where that can be.
 */
export async function whyWaits(
  status: () => Promise<StatusReport>,
  { mirror: name, state }: Waiter,
): Promise<string | null> {
  if (["converted", "failed", "held"].includes(state)) return null;
  const report = await status();
  const mirror = report.mirrors.find((one) => one.name === name);
  if (!mirror) return `its mirror ${name} is not in the configuration`;
  const archive = report.archives.find((one) => one.name === mirror.archive);
  const unsent = state === "pending" ? whyUnsent(report, archive) : null;
  if (unsent !== null) return unsent;
  if (archive?.outage && state !== "settling")
    return `the archive cannot be reached: ${archive.outage.message}`;
  if (mirror.offline && (state === "settling" || state === "pending"))
    return `the source is offline: ${mirror.offline.why}`;
  return report.running ? null : "scanferry is not running: scanferry run, or scanferry sync";
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
