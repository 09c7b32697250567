import { expect } from "vitest";
import type { Document, Seen } from "../../src/domain/document.ts";
import type { Event } from "../../src/domain/life.ts";
import type { Applied, Journal, NewDocument } from "../../src/journal/journal.ts";
import { codeOf } from "../../src/std/fault.ts";
import { dirOf, nameOf, rawOfText } from "../../src/std/raw-path.ts";

/** The hour at which everything in these tests happens. */
export const NOW = 1_700_000_000_000;

export const seenOf = (sizeBytes: number, stamp = `${sizeBytes}`): Seen => {
  return { sizeBytes, modifiedAt: NOW - 0.5, stamp };
};

/** A file that appears at `path`. */
export function appearing(
  mirrorId: number,
  path: string,
  more: Partial<NewDocument> = {},
): NewDocument {
  const raw = rawOfText(path);
  const place = { mirrorId, dir: dirOf(raw), name: nameOf(raw) };
  return { ...place, seen: seenOf(100), at: NOW, dueAt: NOW + 3000, supersedes: null, ...more };
}

/** Events, with what tests do not care for filled in. */
export const events = {
  settled: (digest = "d1", targetPath = "/Scans", sentName = "a.pdf"): Event => {
    const settled = { digest, sentName, targetPath, remark: null, batch: "batch-1" };
    return { type: "settled", at: NOW + 10, ...settled };
  },
  claimed: (folderId = 7, at = NOW + 20): Event => {
    return { type: "claimed", at, archiveAt: at - 5, folderId, batch: "batch-1" };
  },
  accepted: (documentId: number, dueAt = NOW + 5000): Event => {
    return { type: "accepted", at: NOW + 30, dueAt, documentId, status: "UPLOADED" };
  },
  converted: (after: "due" | null = null): Event => {
    const counted = { pages: 3, archiveBytes: 99, digidoc: false, after };
    return { type: "converted", at: NOW + 40, ...counted };
  },
  heldBack: (code: string, dueAt: number | null = null): Event => {
    return { type: "heldBack", at: NOW + 25, dueAt, problem: { code, message: `${code} it was` } };
  },
  deferred: (code: string): Event => {
    return { type: "deferred", at: NOW + 26, dueAt: NOW + 90, problem: { code, message: "later" } };
  },
  inDoubt: (): Event => {
    const problem = { code: "REPLY_LOST", message: "cut" };
    return { type: "inDoubt", at: NOW + 27, dueAt: NOW + 60, problem };
  },
  found: (documentId: number): Event => {
    return { type: "found", at: NOW + 70, dueAt: NOW + 80, documentId, status: null };
  },
  polled: (status: string | null, at: number): Event => {
    return { type: "polled", at, dueAt: at + 100, status, problem: null };
  },
} as const;

const isClosed = (error: unknown): boolean => codeOf(error) === "JOURNAL_CLOSED";

/** Tries something at a desk; what the journal counted has to be what there is afterwards. */
export async function atDesk(
  journal: Journal,
  attempt: (desk: Desk) => Promise<void>,
): Promise<void> {
  await attempt(await Desk.at(journal));
  // Some close it.
  if (await journal.paused().then(() => false, isClosed)) return;
  const there = new Map<string, number[]>();
  for await (const { mirrorId, state, estimate } of journal.list({})) {
    const [documents = 0, pages = 0, unknown = 0] = there.get(`${mirrorId} ${state}`) ?? [];
    const sums = [documents + 1, pages + (estimate ?? 0), unknown + Number(estimate === null)];
    there.set(`${mirrorId} ${state}`, sums);
  }
  const counts = (await journal.counts()).map(({ mirrorId, state, documents }) => {
    return [`${mirrorId} ${state}`, documents];
  });
  const numbers = [...there].map(([key, [documents]]) => [key, documents]);
  expect(Object.fromEntries(counts)).toEqual(Object.fromEntries(numbers));
  for (const { mirrorId, state, documents, pages, unknown } of await journal.waitingPages())
    expect([documents, pages, unknown]).toEqual(there.get(`${mirrorId} ${state}`));
}

/** A journal with one mirror, and short words for what tests do with it. */
export class Desk {
  readonly journal: Journal;
  readonly mirrorId: number;

  constructor(journal: Journal, mirrorId: number) {
    this.journal = journal;
    this.mirrorId = mirrorId;
  }

  static async at(journal: Journal): Promise<Desk> {
    return new Desk(journal, (await journal.mirror("scans", "/srv/scans")).id);
  }

  async add(path: string, more: Partial<NewDocument> = {}): Promise<Document> {
    const document = appearing(this.mirrorId, path, more);
    const [applied] = await this.journal.apply([{ type: "add", document }]);
    if (!applied?.document || applied.skipped) throw new Error(`${path} was not added`);
    return applied.document;
  }

  /** The document after `steps`. */
  async after(id: number, ...steps: Event[]): Promise<Document> {
    const applied = await this.journal.apply(
      steps.map((event) => ({ type: "event", id, event }) as const),
    );
    const document = applied.at(-1)?.document ?? (await this.journal.document(id));
    if (!document) throw new Error(`document ${id} is gone`);
    return document;
  }

  /** A document that the archive has as `documentId`. */
  async uploaded(path: string, documentId: number, digest = "d1"): Promise<Document> {
    const { id } = await this.add(path);
    const { settled, claimed, accepted } = events;
    return this.after(id, settled(digest), claimed(), accepted(documentId));
  }

  async held(path: string, code: string, more: Partial<NewDocument> = {}): Promise<Document> {
    const { id } = await this.add(path, more);
    return this.after(id, events.settled(), events.heldBack(code));
  }

  async forget(id: number, restore = false): Promise<Applied | undefined> {
    const forget = { type: "forget", id, at: NOW + 50, why: "removed", restore } as const;
    return (await this.journal.apply([forget]))[0];
  }

  async follow(id: number, successor: number): Promise<Applied | undefined> {
    return (await this.journal.apply([{ type: "follow", id, successor, at: NOW + 50 }]))[0];
  }

  async paths(): Promise<string[]> {
    const found: string[] = [];
    for await (const { dir, name } of this.journal.list({})) found.push(`${dir}|${name}`);
    return found;
  }
}
