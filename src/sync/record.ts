import type { Document } from "../domain/document.ts";
import { FAILURES, isKnown } from "../domain/failure.ts";
import type { GateRow } from "../journal/journal.ts";
import { joinRaw, shown } from "../std/raw-path.ts";
import { hintOf, retryDoes } from "./retry.ts";

/** A document as `list --json` and the page show it; the keys of the outside contract and more. */
export type DocumentRecord = Readonly<ReturnType<typeof recordOf>>;

/** The record of a row; `mirror` is the mirror's name. */
export function recordOf(document: Document, mirror: string) {
  const { problem } = document;
  return {
    mirror,
    /** Relative to the mirror's source; bytes that are not UTF-8 are shown as `\xHH`. */
    path: shown(joinRaw(document.dir, document.name)),
    state: document.state,
    documentId: document.documentId,
    folderId: document.folderId,
    batch: document.batch,
    size: document.seen.sizeBytes,
    sha256: document.digest,
    attempts: document.attempts,
    error: problem === null || isOver(document) ? null : { ...problem, hint: hintOf(document) },
    sentAt: document.sentAt,
    uploadedAt: document.uploadedAt,
    convertedAt: document.convertedAt,
    pages: document.pages,
    /** As they were counted here before it was sent; null: they cannot be. */
    pagesEstimated: document.estimate,
    id: document.id,
    sentName: document.sentName,
    target: document.targetPath,
    firstSeenAt: document.firstSeenAt,
    changedAt: document.changedAt,
    nextAttemptAt: document.dueAt,
    digidoc: document.digidoc,
    remark: document.remark,
    /** What goes with it, and where each value came from. */
    attributes: document.attributes,
    /** The id of the record that the archive has this content of. */
    duplicateOf: document.duplicateOf,
    current: document.current,
    supersedes: document.supersedes,
    goneAt: document.goneAt,
    movedFrom: document.movedFrom,
    after: document.after,
    afterMessage: document.afterMessage,
    /** What `scanferry retry` does to it; null: nothing. */
    retry: retryDoes(document),
  };
}

/** What is sent next is not held or failed any more; what a request met before is still there. */
function isOver({ state, problem }: Document): boolean {
  const code = problem?.code ?? "";
  const isNext = state === "pending" || state === "uploading";
  return isNext && isKnown(code) && FAILURES[code].fate !== "retry";
}

/** What the gate holds has no time of its own: it is tried again when that asks the archive. */
export function withProbe(record: DocumentRecord, gate: GateRow | undefined): DocumentRecord {
  const isHeld = record.state === "held" && record.error?.code === gate?.problem?.code;
  return isHeld ? { ...record, nextAttemptAt: gate?.nextProbeAt ?? null } : record;
}
