import type { Applied } from "../journal/journal.ts";
import { failureOf } from "../domain/failure.ts";
import type { Log } from "../std/log.ts";
import { joinRaw, shown } from "../std/raw-path.ts";

/** One line per change of a document's state; what repeats without changing it is detail. */
export function logApplied(
  log: Log,
  applied: readonly Applied[],
  mirrorName: (mirrorId: number) => string,
): void {
  for (const { change, document, from, skipped } of applied) {
    if (skipped || !document) continue;
    if (change.type !== "event" && change.type !== "add" && change.type !== "follow") continue;
    const context = {
      mirror: mirrorName(document.mirrorId),
      path: shown(joinRaw(document.dir, document.name)),
      state: document.state,
      ...(from === undefined ? {} : { from }),
      ...(document.batch === null ? {} : { batch: document.batch }),
      ...(document.documentId === null ? {} : { documentId: document.documentId }),
      ...(document.trouble === null ? {} : { code: document.trouble.code }),
    };
    if (change.type === "event" && document.state === from) {
      log.debug(context, change.event.type);
    } else if (document.trouble && ["held", "failed"].includes(document.state)) {
      const { code, message } = document.trouble;
      log.warn(context, `${document.state}: ${message}. ${failureOf(code).hint}`);
    } else {
      log.info(context, change.type === "follow" ? "renamed or moved" : document.state);
    }
  }
}
