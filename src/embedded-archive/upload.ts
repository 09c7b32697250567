import { authenticate } from "./authentication.ts";
import type { Draft } from "./draft.ts";
import type { Context } from "./archive-context.ts";
import { documentDetailOf } from "./document-row.ts";
import type { FaultAction } from "./faults.ts";
import { type Fields, type ParameterValues, valuesOf } from "./parameters.ts";
import type { DocumentDetail } from "../wire/shapes.ts";
import type { Account, Store } from "./store.ts";
import { folderAsked, type ReplyFields } from "./readings.ts";
import { Refusal } from "./refusal.ts";

/** What is known of an upload before its file is read: who, what and where to. */
export type Admission = {
  account: Account;
  asked: ParameterValues<"upload">;
  folderId: number;
  /** What the file has to be, where that was signed. */
  sha256: string | undefined;
};

/**
 * Endpoints, 7, the part before the file. The order of the checks is ours: account and signature,
 * parameters, folder, plugin; then, with the file, its size and the allowance.
 */
export async function admit(context: Context, fields: Fields): Promise<Admission> {
  const { accounts, settings, reminderPlugin, store } = context;
  const now = settings.clock.now();
  const request = { operation: "upload", fields, now } as const;
  const { account, dated } = authenticate(request, accounts, settings);
  // Also where it is refused next: sent again by another, it might be stored next to its repetition. A code of its
  // own, for INVALID_SIG would say that nothing was stored, and the first may have been.
  if (dated && !(await store.isFirst(dated, now))) throw new Refusal("REQUEST_REPEATED", 409);
  const asked = valuesOf("upload", fields);
  const folderId = folderOf(store, account, asked);
  if (asked.expireDate !== undefined && !reminderPlugin)
    throw new Refusal("PLUGIN_REMINDER_NOT_INSTALLED");
  return { account, asked, folderId, sha256: dated?.sha256 };
}

/** Endpoints, 7, the part with the file: what this resolves with is on the disk. */
export async function upload(
  context: Context,
  admission: Admission,
  draft: Draft | undefined,
  fault: FaultAction | undefined,
): Promise<ReplyFields & { document: DocumentDetail }> {
  const { store, settings } = context;
  const { account, asked } = admission;
  if (!draft || draft.size === 0) throw new Refusal("NO_FILE_DATA");
  if (draft.isTooBig) throw new Refusal("FILE_SIZE_TOO_BIG");
  const sealed = await draft.seal();
  if (sealed.sha256 !== (admission.sha256 ?? sealed.sha256)) throw new Refusal("INVALID_SIG");
  const quota = () => store.quotaOf(account.id, settings.quotaPages);
  const quotaPages = quota();
  // With an allowance the pages are counted before the document is taken, so that it is never overdrawn. Without
  // one that would be for nothing: the document is charged 1, and its true number once it is converted.
  const request = { job: "pages", path: draft.path, filename: asked.filename } as const;
  const pages = quotaPages === undefined ? 1 : (await context.converter.run(request)).pages;
  if (store.pagesUsed(account.id) + pages > (quotaPages ?? Infinity))
    throw new Refusal("QUOTA_LIMIT");
  const now = settings.clock.now();
  const given = {
    ...metadataOf(asked),
    ...sealed,
    account_id: account.id,
    folder_id: admission.folderId,
    filename: asked.filename,
    uploaded_at: now,
    pages_charged: pages,
    batch: asked.batch ?? null,
    expire_at: asked.expireDate ?? null,
    convert_at: convertAtOf(fault, now, settings.convertDelayMs),
  };
  const place = () => context.blobs.place(draft, sealed.sha256);
  const row = await store.add(given, quota(), place);
  if (!row) throw new Refusal("QUOTA_LIMIT");
  context.conversion.poke();
  if (given.expire_at !== null) context.expiry.poke();
  return { document: documentDetailOf(row) };
}

/** Which of the two counts when both are sent is open; here folderId wins. */
function folderOf(store: Store, account: Account, asked: ParameterValues<"upload">): number {
  if (asked.folderId !== undefined || asked.path === undefined)
    return folderAsked(store, account, asked.folderId).id;
  const id = store.folders.at(account.rootId, asked.path);
  if (id === undefined) throw new Refusal("FOLDER_NOT_EXISTS");
  return id;
}

/** What was sent replaces what the file says, and so does an empty text; the rest is still open. */
function metadataOf(asked: ParameterValues<"upload">) {
  return {
    title: asked.metadataTitle ?? null,
    author: asked.metadataAuthor ?? null,
    subject: asked.metadataSubject ?? null,
    keywords: asked.metadataKeywords ?? null,
    producer: asked.metadataProducer ?? null,
    description: asked.metadataDescription ?? null,
  };
}

function convertAtOf(fault: FaultAction | undefined, now: number, delayMs: number): number | null {
  if (fault?.do !== "convert") return now + delayMs;
  return fault.afterMs === "never" ? null : now + fault.afterMs;
}
