/**
 * Settings that a mirror's documents are decided by may be corrected while documents wait: those that were decided
 * by others, and of which the archive can have nothing, are looked at and decided once more.
 */
import { hash } from "node:crypto";
import type { Mirror } from "../config/config.ts";
import type { Document } from "../domain/document.ts";
import type { ArchiveState, DocumentReader, Documents } from "../journal/journal.ts";
import type { SyncContext } from "./context.ts";
import { recheck } from "./retry.ts";

/** Rows of one commit. */
const CHUNK = 500;

/**
 * The states of what waits, in the order in which they are listed: what another loop puts back in the queue meanwhile is
 * in the second list.
 */
export const WAITING_STATES = ["held", "pending"] as const;

/** What of the rules has no part in what is decided of a document. */
const NOT_DECIDING = { priority: 0, order: 0, duplicates: 0 };

/** To be called before anything is claimed: what waits is decided by the settings as they are now. */
export async function decideAgain({
  journal,
  mirrors,
  clock,
  log,
}: SyncContext<ArchiveState & Documents>): Promise<void> {
  for (const [id, { settings }] of mirrors) {
    if (await isDecidedOtherwise(journal, id, settings)) {
      let documents = 0;
      // Until none is left: what another loop has put back in the queue since it was listed is skipped.
      for (let all = await waitingOf(journal, id); all.length > 0; ) {
        for (let from = 0; from < all.length; from += CHUNK) {
          const some = all.slice(from, from + CHUNK).map((row) => recheck(row, clock.now()));
          const applied = await journal.apply(some);
          documents += applied.filter(({ skipped }) => !skipped).length;
        }
        all = await waitingOf(journal, id);
      }
      log.info(
        { mirror: settings.name, documents },
        "decided waiting documents again: settings have changed",
      );
    }
    // Last: ended before that, it is done once more.
    await remember(journal, id, settings);
  }
}

/** Mirrors of which all that waits was decided by the settings here: by the daemon that has each, and none is sent before. */
export class DecidedMirrors {
  readonly #context: Pick<SyncContext<ArchiveState>, "journal" | "configured">;
  readonly #ids = new Set<number>();

  constructor(context: Pick<SyncContext<ArchiveState>, "journal" | "configured">) {
    this.#context = context;
  }

  has(mirrorId: number): boolean {
    return this.#ids.has(mirrorId);
  }

  async look(): Promise<void> {
    const { journal, configured } = this.#context;
    for (const [id, { settings }] of configured)
      if (!this.has(id) && !(await isDecidedOtherwise(journal, id, settings))) this.#ids.add(id);
  }
}

/** Whether what waits was decided by other settings of the mirror than these; false where nobody knows. */
export async function isDecidedOtherwise(
  journal: ArchiveState,
  mirrorId: number,
  settings: Mirror,
): Promise<boolean> {
  const known = await journal.keyValue(keyOf(mirrorId));
  return known !== null && known !== settingsDigest(settings);
}

/**
 * It waits, decided, and the archive has nothing of it. Not what was in doubt once: if it turned up late after all, it
 * would be under the name and in the folder that were decided then. Nor what a hook will not have sent.
 */
export function mayBeDecidedAgain(document: Document): boolean {
  const { state, digest, doubtAt, documentId, looks, sentBytes, problem } = document;
  if (state !== "pending" && state !== "held") return false;
  if (digest === null || doubtAt !== null || documentId !== null) return false;
  return !(looks > 0 && sentBytes !== null) && problem?.code !== "VETOED";
}

async function waitingOf(
  journal: DocumentReader,
  mirrorId: number,
): Promise<Pick<Document, "id" | "state">[]> {
  const waiting: Pick<Document, "id" | "state">[] = [];
  for (const wanted of WAITING_STATES) {
    for await (const row of journal.list({ mirrorId, state: wanted })) {
      if (mayBeDecidedAgain(row)) waiting.push({ id: row.id, state: row.state });
    }
  }
  return waiting;
}

async function remember(journal: ArchiveState, mirrorId: number, settings: Mirror): Promise<void> {
  const digest = settingsDigest(settings);
  const key = keyOf(mirrorId);
  if ((await journal.keyValue(key)) !== digest) await journal.setKeyValue(key, digest);
}

/** Of all that says what is sent, under which name, where to and with what; not of when, or in which order. */
function settingsDigest({ name, target, stillIncomplete, rules, hooks }: Mirror): string {
  const deciding = { ...rules, ...NOT_DECIDING };
  const all = [name, target, stillIncomplete, deciding, hooks?.before?.command ?? null];
  return hash("sha256", JSON.stringify(all), "base64url");
}

function keyOf(mirrorId: number): string {
  return `decided:${mirrorId}`;
}
