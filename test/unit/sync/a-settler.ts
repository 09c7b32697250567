/** A desk with a settler, and files on its reader's disk. */
import { rawOfText } from "../../../src/std/raw-path.ts";
import type { Document, Seen } from "../../../src/domain/document.ts";
import { AfterActions } from "../../../src/sync/after-actions.ts";
import { Settler } from "../../../src/sync/settler.ts";
import type { QueueState } from "../../../src/sync/send-queue.ts";
import type { FakeFile } from "../../fakes/fake-reader.ts";
import { SyncDesk } from "./desk.ts";

/** How long the settler has been there, and how long files have been quiet. */
const UP_MS = 60_000;
const QUIET_MS = 10_000;

export async function aSettler(
  options: Parameters<typeof SyncDesk.open>[0] = {},
  upMs = UP_MS,
  stream?: Pick<QueueState, "isSupplied" | "ready">,
) {
  const desk = await SyncDesk.open(options);
  const afterActions = new AfterActions();
  const settler = new Settler(desk.context, afterActions, stream);
  // It saw everything that is there come.
  await desk.clock.advance(upMs);
  return { desk, settler, afterActions };
}

/** Puts a file on the disk; its stamp is its digest. */
export function onDisk(
  desk: SyncDesk,
  path: string,
  digest: string,
  set: Partial<FakeFile> = {},
): Seen {
  const seen = { sizeBytes: 1_000, modifiedAt: desk.clock.now(), stamp: digest };
  const file = { seen, digest, ...set };
  desk.reader.files.set(rawOfText(path), file);
  return file.seen;
}

/** A file on the disk and its row, which is due to be looked at. */
export function settling(
  desk: SyncDesk,
  path: string,
  digest: string,
  set: Partial<Document> & { file?: Partial<FakeFile> } = {},
): Document {
  const { file, ...columns } = set;
  const seen = onDisk(desk, path, digest, file);
  const unknown = { digest: null, sentName: null, targetPath: null, batch: null, folderId: null };
  const changedAt = desk.clock.now() - QUIET_MS;
  const rest = { ...unknown, sentAt: null, changedAt, ...columns };
  return desk.put({ path, state: "settling", seen, ...rest });
}

/** A row of a file that is in the archive. */
export function sent(
  desk: SyncDesk,
  path: string,
  digest: string,
  set: Partial<Document> = {},
): Document {
  const documentId = 5_000 + desk.journal.store.nextId;
  const seen = { sizeBytes: 1_000, modifiedAt: 0, stamp: digest };
  return desk.put({ path, state: "converted", digest, documentId, seen, dueAt: null, ...set });
}
