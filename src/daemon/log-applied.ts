import type { Applied } from "../journal/journal.ts";
import type { Document, State } from "../domain/document.ts";
import { failureOf } from "../domain/failure.ts";
import type { Log } from "../std/log.ts";
import { joinRaw, shown } from "../std/raw-path.ts";

/** What every document passes on its way to the archive. */
const ON_THE_WAY: ReadonlySet<State> = new Set(["settling", "pending", "uploading"]);

/**
 * One line for what becomes of a document: sent, converted, held and the like; two as a rule. What it
 * passes on its way there, and what repeats without a change of its state, is detail.
 */
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
      ...(document.problem === null ? {} : { code: document.problem.code }),
    };
    if (change.type === "event" && document.state === from) {
      log.debug(context, change.event.type);
    } else if (change.type !== "follow" && ON_THE_WAY.has(document.state) && !isPutBack(document)) {
      log.debug(context, document.state);
    } else if (document.problem && ["held", "failed", "inDoubt"].includes(document.state)) {
      const { code, message } = document.problem;
      log.warn(context, `${document.state}: ${message}. ${failureOf(code).hint}`);
    } else {
      log.info(context, change.type === "follow" ? "renamed or moved" : document.state);
    }
  }
}

/** A try that failed, and is made again: not what every document passes. */
function isPutBack({ state, problem }: Pick<Document, "state" | "problem">): boolean {
  return state === "pending" && problem !== null;
}
