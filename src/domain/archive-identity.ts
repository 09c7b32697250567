/**
 * Whether the archive that answers is the one that documents were sent to. The interface names no archive: what
 * there is to go by is where and by which key it is asked, the date of its root folder, and what it says of
 * documents that it is known to have.
 */

/** What an archive is known by. */
export type ArchiveIdentity = {
  readonly url: string;
  /** Fingerprint of the account key, which cannot be told from it. */
  readonly key: string;
  /** `createdDate` of the root folder, epoch ms; null where the archive does not say. */
  readonly rootCreatedAt: number | null;
};

/** The identity that is remembered; `isConfirmed`: a person has said that it is the same archive (`archive moved`). */
export type KnownIdentity = ArchiveIdentity & { readonly isConfirmed: boolean };

/**
 * What an archive says of a document that was sent: ours, another one under its id, none of this id, or nothing
 * that tells.
 */
export type KnownAnswer = "ours" | "other" | "missing" | "unclear";

/** One archive may keep whole seconds only. */
const SAME_MS = 1_000;

/**
 * So many documents of others under ids of ours, and none of ours: be it a backup, that is for a person to say.
 * Fewer may have been what the last night's backup lacks; each is looked for on its own.
 */
const OTHERS_MIN = 3;

/**
 * Why `now` is another archive than `known`; undefined where nothing shows that. A document of ours outweighs
 * all else. `known` null: nothing is remembered.
 */
export function otherArchive(
  known: KnownIdentity | null,
  now: ArchiveIdentity,
  answers: readonly KnownAnswer[],
): string | undefined {
  if (answers.includes("ours")) return undefined;
  const count = (which: KnownAnswer) => answers.filter((answer) => answer === which).length;
  const others = count("other");
  // With nothing sent, there is nothing to lose by another archive.
  if (answers.length === 0) return undefined;
  const root = rootOf(known, now);
  const isElsewhere = known !== null && isMoved(known, now);
  if (known?.isConfirmed === true && !isElsewhere && root !== "other") return undefined;
  const isGone = others + count("missing") > 0;
  const isOther =
    root === "other" || (isElsewhere && (isGone || root === "unknown")) || others >= OTHERS_MIN;
  if (!isOther) return undefined;
  const told = [
    isElsewhere ? `${movedWhat(known, now)} was changed` : [],
    root === "other" ? `its root folder is of ${day(now)}, not of ${day(known)}` : [],
    `of ${answers.length} documents that were sent, it has ${others === 0 ? "none" : `others under the ids of ${others}, and none of ours`}`,
  ];
  return `${now.url} does not look like the archive that documents were sent to: ${told.flat().join("; ")}`;
}

/** Whether the archive is asked elsewhere, or by another key. */
export function isMoved(known: ArchiveIdentity, now: ArchiveIdentity): boolean {
  return known.url !== now.url || known.key !== now.key;
}

/** Whether so much the same that there is nothing new to remember. */
export function isSameIdentity(known: ArchiveIdentity | null, now: ArchiveIdentity): boolean {
  return known !== null && !isMoved(known, now) && known.rootCreatedAt === now.rootCreatedAt;
}

function rootOf(
  known: ArchiveIdentity | null,
  { rootCreatedAt: is }: ArchiveIdentity,
): "same" | "other" | "unknown" {
  const was = known?.rootCreatedAt ?? null;
  if (was === null || is === null) return "unknown";
  return Math.abs(was - is) <= SAME_MS ? "same" : "other";
}

function movedWhat(known: ArchiveIdentity | null, now: ArchiveIdentity): string {
  return known?.url === now.url ? "the account key" : "the address";
}

function day(identity: ArchiveIdentity | null): string {
  return new Date(identity?.rootCreatedAt ?? 0).toISOString();
}

/** What the one archive of `archive:` is called, and the first archive of every journal. */
export const FIRST_ARCHIVE = "main";

/** What the name of an archive that was replaced ends with; no configured name has a space. */
export function retiredSuffix(at: number): string {
  return ` until ${new Date(at).toISOString()}`;
}

/** Whether an archive of this name was replaced: what was sent to it is history. */
export function isRetired(name: string): boolean {
  return / until \d{4}-[-T:.\d]+Z$/.test(name);
}
