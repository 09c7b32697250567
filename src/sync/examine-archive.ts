/** Asks an archive who it is, and what it has of the documents that were sent to it. */
import { createHash } from "node:crypto";
import type { Archive } from "../archive/archive.ts";
import { ArchiveError } from "../archive/archive-error.ts";
import type { ArchiveAccount } from "../config/config.ts";
import { isKeptDate, isOtherDate, isSameName } from "../domain/another-document.ts";
import {
  type ArchiveIdentity,
  type KnownAnswer,
  type KnownIdentity,
  otherArchive,
} from "../domain/archive-identity.ts";
import type { Document } from "../domain/document.ts";
import type {
  ArchiveState,
  DocumentReader,
  Documents,
  Registry,
  Reports,
} from "../journal/journal.ts";
import type { SyncContext } from "./context.ts";
import { otherThan } from "./mistaken.ts";

/** Documents that are asked for at most: the latest, and the first of each mirror. */
const KNOWN_MAX = 5;
const LATEST_MAX = 3;
const FIRST_MAX = 2;

/** So many of the latest are looked at, of whatever archive. */
const RECENT = 50;

/** An answer that proves nothing is taken for none after so many. */
const FAILURES_MAX = 2;

type Upload = SyncContext["config"]["upload"];

/** What is asked with; `archive` is asked as it is, whatever is known of it. */
export type Asking = {
  readonly archive: Archive;
  /** Speaks for the archive. */
  readonly journal: ArchiveState & Documents & Registry & Reports;
  readonly account: Pick<ArchiveAccount, "name" | "url" | "accountKey" | "storedSize">;
  readonly upload: Upload;
};

/** What came of it. */
export type Examined = {
  readonly now: ArchiveIdentity;
  readonly known: KnownIdentity | null;
  /** The same as it is kept. */
  readonly keyValue: string | null;
  /** Why it is another archive. */
  readonly other: string | undefined;
  /** It has a document that was sent to it. */
  readonly hasOurs: boolean;
};

/**
 * Asks the archive who it is. `failures`: how often that was answered in vain. Rejects with `ArchiveError` where
 * it cannot be asked now. Writes nothing.
 */
export async function examine(
  asking: Asking,
  failures: number,
  signal: AbortSignal,
): Promise<Examined> {
  const { archive, journal } = asking;
  const keyValue = await journal.keyValue(keyOf(journal.archiveId));
  const known = keyValue === null ? null : (JSON.parse(keyValue) as KnownIdentity);
  const root = await answered(() => archive.folder(undefined, signal), failures);
  const now = identityOf(asking.account, root === undefined ? 0 : root.createdDate);
  const answers: KnownAnswer[] = [];
  for (const document of await knownDocuments(journal)) {
    const answer = await askAbout(document, asking, failures, signal);
    answers.push(answer);
    if (answer === "ours") break;
  }
  const hasOurs = answers.includes("ours");
  return { now, known, keyValue, other: otherArchive(known, now, answers), hasOurs };
}

/** From now on it is this archive; `isConfirmed`: by a person's word. */
export async function remember(
  journal: ArchiveState,
  now: ArchiveIdentity,
  isConfirmed: boolean,
): Promise<string> {
  const known: KnownIdentity = { ...now, isConfirmed };
  const keyValue = JSON.stringify(known);
  await journal.setKeyValue(keyOf(journal.archiveId), keyValue);
  return keyValue;
}

/** Where it is kept. */
export function keyOf(archiveId: number): string {
  return `identity:${archiveId}`;
}

function identityOf(
  { url, accountKey }: Asking["account"],
  rootCreatedAt: number,
): ArchiveIdentity {
  // Too short to be sought by: it tells a key from another, and no more.
  const key = createHash("sha256").update(`account ${accountKey}`).digest("hex").slice(0, 8);
  return { url, key, rootCreatedAt: rootCreatedAt > 0 ? rootCreatedAt : null };
}

/** Of what the archive has of us: the latest, and the first of each mirror. */
async function knownDocuments(
  journal: ArchiveState & DocumentReader & Registry & Reports,
): Promise<Document[]> {
  const mirrors = (await journal.mirrors()).filter(
    ({ archiveId }) => archiveId === journal.archiveId,
  );
  const own = new Set(mirrors.map(({ id }) => id));
  const found = new Map<number, Document>();
  const add = (document: Document) => {
    const isSent = document.state === "uploaded" || document.state === "converted";
    const isOurs = own.has(document.mirrorId) && document.duplicateOf === null;
    if (isSent && isOurs && document.documentId !== null) found.set(document.documentId, document);
  };
  const latest = await journal.listPage({ order: "uploaded", rows: RECENT });
  for (const document of latest.documents) if (found.size < LATEST_MAX) add(document);
  const counts = await journal.counts();
  for (const { mirrorId, state } of counts) {
    if (state !== "converted" || !own.has(mirrorId) || found.size >= KNOWN_MAX) continue;
    const before = found.size;
    for await (const document of journal.list({ mirrorId, state })) {
      add(document);
      if (found.size >= Math.min(before + FIRST_MAX, KNOWN_MAX)) break;
    }
  }
  return [...found.values()];
}

async function askAbout(
  document: Document,
  { archive, journal, account, upload }: Asking,
  failures: number,
  signal: AbortSignal,
): Promise<KnownAnswer> {
  const id = document.documentId ?? 0;
  try {
    const told = await answered(() => archive.document(id, signal), failures);
    if (told === undefined) return "unclear";
    const config = { upload, archive: account };
    if (await otherThan({ journal, config }, document, told)) return "other";
    if (isKeptDate(document, told)) return "ours";
    const { sentName, sentBytes, archiveBytes, seen } = document;
    const isLike =
      isSameName(told.filename, sentName ?? "") &&
      told.filesize === (sentBytes ?? archiveBytes ?? seen.sizeBytes);
    return isLike && !isOtherDate(document, told.uploadedDate, upload.doubt.toleranceMs)
      ? "ours"
      : "unclear";
  } catch (error) {
    if (error instanceof ArchiveError && error.code === "DOC_NOT_EXIST") return "missing";
    throw error;
  }
}

/** What the archive answers; undefined where it refuses to, or fails again and again. */
async function answered<T>(ask: () => Promise<T>, failures: number): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ArchiveError) || error.code === "DOC_NOT_EXIST") throw error;
    const { kind, credentials, retryAfterMs, code } = error;
    const isRefused =
      kind === "refused" && !credentials && retryAfterMs === undefined && code !== "ARCHIVE_BUSY";
    const isVain = kind === "inDoubt" && failures >= FAILURES_MAX;
    if (isRefused || isVain) return undefined;
    throw error;
  }
}
