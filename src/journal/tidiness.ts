/**
 * What retention may do to a row. Pure, so that every journal decides alike.
 *
 * A row whose file is there is never dropped, nor one that is on its way, nor one that a younger
 * revision is still compared with. What is dropped is remembered by its content.
 */
import { createHash } from "node:crypto";
import type { Document } from "../domain/document.ts";
import { bytesOf, joinRaw, type RawPath } from "../std/raw-path.ts";

/** One step of retention; see `Journal.tidy`. Times are epoch ms. */
export type TidyRequest = {
  readonly at: number;
  /** Details that are older are let go. */
  readonly before: number;
  /** Tombstones made before this are let go. */
  readonly forgetBefore: number;
  /** Only of these are rows dropped: what is gone there is known to be. */
  readonly mirrorIds: readonly number[];
  /** Begins behind this row; 0: at the first. */
  readonly after: number;
  /** Begins behind this batch; 0: at the oldest. */
  readonly afterBatch: number;
  /** Rows looked at, and batches. */
  readonly limit: number;
  /** True: receipts are written, and what has none yet is kept for it. */
  readonly receipts: boolean;
};

/**
 * What a step did; `next` is where the next one begins, null when all rows were looked at. Batches are gone
 * through round and round: `nextBatch` is 0 after the latest.
 */
export type Tidied = {
  readonly next: number | null;
  readonly nextBatch: number;
  readonly dropped: number;
  readonly trimmed: number;
};

/** A document of the archive whose row was dropped. */
export type DroppedDocument = { readonly documentId: number; readonly folderId: number };

/** `drop`: the row goes, a tombstone stays. `trim`: its attempts and older history go. */
export type Tidiness = "drop" | "trim" | "keep";

/** Judges a row for details from `before` (epoch ms) and older; `successor` is what superseded it. */
export function tidiness(
  document: Document,
  successor: Document | undefined,
  before: number,
): Tidiness {
  // What waits for years is looked at again and again, each time with lines of its history.
  if (!isDone(document, before)) return document.firstSeenAt <= before ? "trim" : "keep";
  const { current, goneAt, after, digest, folderId } = document;
  if (after === "due" || digest === null || folderId === null) return "trim";
  if (current) return goneAt !== null && goneAt <= before ? "drop" : "trim";
  return successor === undefined || isDone(successor, before) ? "drop" : "trim";
}

function isDone({ state, convertedAt }: Document, before: number): boolean {
  return state === "converted" && convertedAt !== null && convertedAt <= before;
}

/** What stays of a dropped row. */
export type Tombstone = {
  readonly archiveId: number;
  readonly mirrorId: number;
  readonly documentId: number;
  readonly folderId: number;
  /** Null: never sent, so that its content is sent if it ever comes back. */
  readonly digest: string | null;
  /**
   * Where it counts; null: anywhere. Of a file that `after` moved or deleted: its path alone (`placeOf`). Of one that
   * another replaced: its path, for a file that was written when it was (`writingOf`).
   */
  readonly place: string | null;
};

/** The tombstone of a row of the archive that is dropped. */
export function tombstoneOf(document: Document, archiveId: number): Tombstone {
  const { mirrorId, documentId, folderId, digest, current, after, dir, name, seen } = document;
  const path = joinRaw(dir, name);
  const ownPlace = after === "done" ? placeOf(path) : null;
  return {
    archiveId,
    mirrorId,
    documentId: documentId ?? 0,
    folderId: folderId ?? 0,
    digest: document.sentBytes === null ? null : digest,
    place: current ? ownPlace : writingOf(path, seen.modifiedAt),
  };
}

/**
 * What stays of two rows for one document of the archive, a duplicate and its original, of which `next`
 * was dropped later: whatever either would have kept from being sent again is not.
 */
export function joinedTombstone(known: Tombstone, next: Tombstone): Tombstone {
  if (next.digest === null) return { ...next, digest: known.digest, place: known.place };
  const isAnywhere = known.digest !== null && known.place !== next.place;
  return isAnywhere ? { ...next, place: null } : next;
}

/** A short digest of a path: 16 bytes, hex. */
export function placeOf(path: RawPath): string {
  return createHash("sha256").update(bytesOf(path)).digest("hex").slice(0, 32);
}

/** The same of a path and the time (epoch ms) at which its file was written. */
export function writingOf(path: RawPath, modifiedAt: number): string {
  const written = `\0${Math.floor(modifiedAt)}`;
  return createHash("sha256").update(bytesOf(path)).update(written).digest("hex").slice(0, 32);
}

/** The bytes of a digest; null for what is none. */
export function digestBytes(hex: string | null): Buffer | null {
  return hex !== null && /^(?:[0-9a-f]{2})*$/i.test(hex) ? Buffer.from(hex, "hex") : null;
}
