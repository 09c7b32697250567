import type { Document, State } from "../domain/document.ts";
import type { Attributes } from "../domain/attributes.ts";
import { joinRaw, shown } from "../std/raw-path.ts";
import { hintOf, type Retry, retryDoes } from "./retry.ts";

/** A document as `list --json` and the page show it; the keys of the outside contract and more. */
export type DocumentRecord = {
  readonly mirror: string;
  /** Relative to the mirror's source; bytes that are not UTF-8 are shown as `\xHH`. */
  readonly path: string;
  readonly state: State;
  readonly documentId: number | null;
  readonly folderId: number | null;
  readonly batch: string | null;
  readonly size: number;
  readonly sha256: string | null;
  readonly attempts: number;
  readonly error: { readonly code: string; readonly message: string; readonly hint: string } | null;
  readonly sentAt: number | null;
  readonly uploadedAt: number | null;
  readonly convertedAt: number | null;
  readonly pages: number | null;
  /** As they were counted here before it was sent; null: they cannot be. */
  readonly pagesEstimated: number | null;
  readonly id: number;
  readonly sentName: string | null;
  readonly target: string | null;
  readonly firstSeenAt: number;
  readonly changedAt: number;
  readonly nextAttemptAt: number | null;
  readonly digidoc: boolean;
  readonly remark: string | null;
  /** What goes with it, and where each value came from. */
  readonly attributes: Attributes | null;
  /** The id of the record that the archive has this content of. */
  readonly duplicateOf: number | null;
  readonly current: boolean;
  readonly supersedes: number | null;
  readonly goneAt: number | null;
  readonly movedFrom: string | null;
  readonly after: string | null;
  readonly afterMessage: string | null;
  /** What `scanferry retry` does to it; null: nothing. */
  readonly retry: Retry;
};

/** The record of a row; `mirror` is the mirror's name. */
export function recordOf(document: Document, mirror: string): DocumentRecord {
  const { problem } = document;
  return {
    mirror,
    path: shown(joinRaw(document.dir, document.name)),
    state: document.state,
    documentId: document.documentId,
    folderId: document.folderId,
    batch: document.batch,
    size: document.seen.sizeBytes,
    sha256: document.digest,
    attempts: document.attempts,
    error: problem === null ? null : { ...problem, hint: hintOf(document) },
    sentAt: document.sentAt,
    uploadedAt: document.uploadedAt,
    convertedAt: document.convertedAt,
    pages: document.pages,
    pagesEstimated: document.estimate,
    id: document.id,
    sentName: document.sentName,
    target: document.targetPath,
    firstSeenAt: document.firstSeenAt,
    changedAt: document.changedAt,
    nextAttemptAt: document.dueAt,
    digidoc: document.digidoc,
    remark: document.remark,
    attributes: document.attributes,
    duplicateOf: document.duplicateOf,
    current: document.current,
    supersedes: document.supersedes,
    goneAt: document.goneAt,
    movedFrom: document.movedFrom,
    after: document.after,
    afterMessage: document.afterMessage,
    retry: retryDoes(document),
  };
}
