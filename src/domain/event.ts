import type { Document, Problem, Seen } from "./document.ts";
import type { Attributes } from "./attributes.ts";

/** What a duplicate takes over of the document that the archive has. */
export type Original = Pick<
  Document,
  | "id"
  | "folderId"
  | "sentName"
  | "uploadedAt"
  | "archiveUploadedAt"
  | "pages"
  | "archiveBytes"
  | "digidoc"
  | "sentBytes"
> & { readonly documentId: number };

/** What happens to a document. `at` is epoch milliseconds. */
export type Event =
  /** `settleMs`: due no sooner than a file that grew has to be quiet; absent: `dueAt` says it all. */
  | { type: "changed"; at: number; dueAt: number; seen: Seen; settleMs?: number }
  | { type: "unfinished"; at: number; dueAt: number; problem: Problem }
  | {
      type: "settled";
      at: number;
      digest: string;
      sentName: string;
      targetPath: string;
      /** What goes with it; absent: nothing. */
      attributes?: Attributes | null;
      remark: string | null;
      batch: string;
      /** Pages as counted here; absent: not known. */
      estimate?: number | null;
    }
  | {
      type: "claimed";
      at: number;
      archiveAt: number | null;
      folderId: number;
      batch: string;
      /** Pages that it is estimated to cost; absent: none. */
      charge?: number;
    }
  /** `uploadedDate`: by the archive's clock, epoch ms; absent: it did not say. */
  | {
      type: "accepted";
      at: number;
      dueAt: number;
      documentId: number;
      status: string | null;
      uploadedDate?: number;
    }
  | {
      type: "adopted";
      at: number;
      dueAt: number;
      documentId: number;
      folderId: number;
      status: string | null;
      uploadedDate?: number;
      /** See `Document.sentBytes`; null where it is known by name and size alone. */
      sentBytes: number | null;
    }
  /** `original`: the row that the archive has this content of. */
  | {
      type: "duplicated";
      at: number;
      original: Original;
      remark: string;
      after: "due" | null;
    }
  | { type: "released"; at: number }
  /** `attributes`: what goes with it from now on, where that changes. */
  | { type: "deferred"; at: number; dueAt: number; problem: Problem; attributes?: Attributes }
  /** `after`: the local file is to be moved or deleted. */
  | {
      type: "vetoed";
      at: number;
      digest: string;
      attributes?: Attributes | null;
      problem: Problem;
      after: "due" | null;
    }
  | { type: "heldBack"; at: number; dueAt: number | null; problem: Problem }
  | { type: "refused"; at: number; problem: Problem }
  | { type: "inDoubt"; at: number; dueAt: number; problem: Problem }
  | { type: "looked"; at: number; dueAt: number }
  | {
      type: "found";
      at: number;
      dueAt: number;
      documentId: number;
      status: string | null;
      uploadedDate?: number;
    }
  /** `problem`: the reply that was lost, where that is to be remembered. */
  | { type: "absent"; at: number; problem?: Problem }
  | { type: "polled"; at: number; dueAt: number; status: string | null; problem: Problem | null }
  | {
      type: "converted";
      at: number;
      pages: number;
      archiveBytes: number;
      digidoc: boolean;
      after: "due" | null;
      /** Absent: what was remarked on it stays. */
      remark?: string;
    }
  | { type: "vanished"; at: number; problem: Problem }
  | { type: "mistaken"; at: number; problem: Problem }
  | { type: "goesOn"; at: number }
  | { type: "recheck"; at: number }
  | { type: "lookAgain"; at: number };

/** The name of an event; the arrows of `life.ts` are drawn with them. */
export type EventType = Event["type"];

/**
 * What people may be notified about. The configuration, the messages and docs/notify.md name these.
 */
export type EventKind =
  | "gate"
  | "credentials"
  | "archive"
  | "failed"
  | "stuck"
  | "held"
  | "source"
  | "after"
  | "reader"
  | "disk"
  | "allowance"
  | "stalled"
  | "digest"
  | "batch";

/** Everything that is sent unless a channel's `events` says otherwise. */
export const USUAL_EVENTS = [
  "gate",
  "credentials",
  "archive",
  "failed",
  "stuck",
  "held",
  "source",
  "after",
  "reader",
  "disk",
  "allowance",
  "stalled",
  "digest",
] as const satisfies readonly EventKind[];

/** What is sent within quiet hours as well: nothing gets better until a person comes. */
export function isUrgent(kind: EventKind): boolean {
  return kind === "credentials" || kind === "disk";
}

/** All kinds; `batch` is sent only where a channel's `events` names it. */
export const EVENT_KINDS = [...USUAL_EVENTS, "batch"] as const satisfies readonly EventKind[];
