/**
 * What was learned of `settle`: a mirror in which a document was sent too early waits longer from then on. Kept in the
 * journal; a `settle` that is shorter than it was then is a person's word, and puts an end to it.
 */
import type { Mirror } from "../config/config.ts";
import { formatDuration } from "../std/units.ts";
import type { Document } from "../domain/document.ts";
import { isAppended, longerSettleMs, suspectPause } from "../domain/sent-early.ts";
import type { ArchiveState, Documents, MirrorRow } from "../journal/journal.ts";
import { joinRaw, shown } from "../std/raw-path.ts";
import type { Whole } from "./prepare.ts";
import type { LiveMirror, DecisionContext } from "./context.ts";

/** A longer time than `settle`, which was `insteadOfMs` when that was learned; milliseconds. */
export type LearnedSettle = {
  readonly settleMs: number;
  readonly insteadOfMs: number;
  readonly learnedAt: number;
};

/** What was sent of a path before, and how long nothing happened then (milliseconds): maybe that was too early. */
export type Suspect = { readonly document: Document; readonly pauseMs: number };

/** What was learned of a mirror that counts next to `settle`; undefined: nothing. */
export async function learnedSettle(
  journal: ArchiveState,
  mirrorId: number,
  settleMs: number,
): Promise<LearnedSettle | undefined> {
  const text = await journal.keyValue(keyOf(mirrorId));
  // Written by `learn` alone.
  const learned = text ? (JSON.parse(text) as LearnedSettle) : undefined;
  const counts = learned && settleMs >= learned.insteadOfMs && learned.settleMs > settleMs;
  return counts ? learned : undefined;
}

/** What was learned of these mirrors, by their names; `rows` are those of the journal. */
export async function learnedIn(
  journal: ArchiveState,
  mirrors: readonly Pick<Mirror, "name" | "settleMs">[],
  rows: readonly MirrorRow[],
): Promise<Map<string, LearnedSettle>> {
  const all = new Map<string, LearnedSettle>();
  for (const { name, settleMs } of mirrors) {
    const id = rows.find((row) => row.name === name)?.id;
    const learned = id === undefined ? undefined : await learnedSettle(journal, id, settleMs);
    if (learned) all.set(name, learned);
  }
  return all;
}

/** A mirror as configured, but for what was learned. */
export async function asLearned(
  journal: ArchiveState,
  mirrorId: number,
  mirror: Mirror,
): Promise<Mirror> {
  const learned = await learnedSettle(journal, mirrorId, mirror.settleMs);
  return learned ? { ...mirror, settleMs: learned.settleMs } : mirror;
}

/** What was sent of the path of a file that is due, where that may have been too early. */
export async function suspectOf(
  { journal }: Pick<DecisionContext<ArchiveState & Documents>, "journal">,
  { settings }: LiveMirror,
  document: Document,
): Promise<Suspect | undefined> {
  if (document.supersedes === null) return undefined;
  const sent = await journal.document(document.supersedes);
  const pauseMs = sent && suspectPause(sent, document, settings.settleMs);
  return sent && pauseMs !== undefined ? { document: sent, pauseMs } : undefined;
}

/**
 * Learns from a content that was found whole and quiet, if it begins with what was sent: says so, and has the mirror wait
 * longer. Resolves with whether it did.
 */
export async function learn(
  { journal, clock, log }: DecisionContext<ArchiveState & Documents>,
  mirror: LiveMirror,
  { document, pauseMs }: Suspect,
  { beginning, pages }: Whole,
): Promise<boolean> {
  if (beginning?.digest !== document.digest || !isAppended(beginning.pages, pages)) return false;
  const at = clock.now();
  const { id } = mirror.row;
  const seconds = Math.ceil(pauseMs / 1_000);
  const remark = `sent too early: more was appended ${seconds} s later; raise \`settle\``;
  // Before it is learned: if that fails, the next look says both again.
  await journal.apply([{ type: "note", id: document.id, at, why: remark, set: { remark } }]);
  const settleMs = Math.max(longerSettleMs(pauseMs), mirror.settings.settleMs);
  const known = await journal.keyValue(keyOf(id));
  const before = known ? (JSON.parse(known) as LearnedSettle) : undefined;
  // What it waits by now may be what was learned before, not what is configured.
  const isLearned = before?.settleMs === mirror.settings.settleMs;
  const insteadOfMs = isLearned ? before.insteadOfMs : mirror.settings.settleMs;
  const learned: LearnedSettle = { settleMs, insteadOfMs, learnedAt: at };
  await journal.setKeyValue(keyOf(id), JSON.stringify(learned));
  mirror.settings = { ...mirror.settings, settleMs };
  log.warn(
    { mirror: mirror.row.name, path: shown(joinRaw(document.dir, document.name)) },
    `${remark}; files of this mirror must be unchanged for ${formatDuration(settleMs)} from now on`,
  );
  return true;
}

function keyOf(mirrorId: number): string {
  return `settle:${mirrorId}`;
}
