/** What an event writes into a row, where several arrows of life.ts write the same. */
import { type Document, type State, UNLEARNT } from "./document.ts";
import type { Event, EventType } from "./event.ts";
import { quietMsOf } from "./settle.ts";
import { failuresInARow } from "./backoff.ts";

/** The events of a type. */
export type On<T extends EventType> = Extract<Event, { type: T }>;

/** The columns an event writes. `state` is always among them. */
export type Patch = Partial<Omit<Document, "id" | "mirrorId">> & { readonly state: State };

/** All is well with it. */
export const UNTROUBLED = { problem: null, consecutiveFailures: 0 } as const;

/** A new content: everything that was learnt of the old one is forgotten. */
export const startOver = (
  { firstSeenAt }: Document,
  { at, dueAt, seen, settleMs = 0 }: On<"changed">,
): Patch => ({
  state: "settling",
  seen,
  changedAt: at,
  dueAt: Math.max(dueAt, at + quietMsOf({ firstSeenAt, changedAt: at }, settleMs)),
  ...UNLEARNT,
});

/** An archive that does not know when says 0, or nothing. */
export const saidDate = (uploadedDate = 0) => (uploadedDate > 0 ? uploadedDate : null);

/** The archive has it, and gave it an id; its conversion is waited for. */
export const hasArrived = (event: On<"accepted" | "found">): Patch => ({
  state: "uploaded",
  documentId: event.documentId,
  archiveStatus: event.status,
  archiveUploadedAt: saidDate(event.uploadedDate),
  uploadedAt: event.at,
  dueAt: event.dueAt,
  polls: 0,
  ...UNTROUBLED,
});

/** The archive's date of it stays: it tells it from others. */
export const isMistaken = (_: Document, { at, problem }: On<"mistaken">): Patch => ({
  state: "inDoubt",
  doubtAt: at,
  looks: 0,
  dueAt: at,
  documentId: null,
  archiveStatus: null,
  // Charged when it was accepted: found again, it is not charged a second time.
  charge: null,
  problem,
  consecutiveFailures: 0,
  after: null,
  afterMessage: null,
});

/** It waits, and says why. */
export const holdBack = (document: Document, { dueAt, problem }: On<"heldBack">): Patch => ({
  state: "held",
  dueAt,
  problem,
  consecutiveFailures: failuresInARow(document, problem),
});

/** It is ready to be sent again. */
export const goOn = (_: Document, { at }: On<"goesOn">): Patch => ({
  state: "pending",
  dueAt: at,
  // A document that vanished from the archive and is sent again will get another id.
  documentId: null,
  archiveStatus: null,
  archiveUploadedAt: null,
});

/** The same content: what was decided of it is forgotten, and how often that failed is not. */
export const startAgain = (_: Document, { at }: On<"recheck">): Patch => ({
  state: "settling",
  dueAt: at,
  digest: null,
  attributes: null,
  after: null,
  afterMessage: null,
});
