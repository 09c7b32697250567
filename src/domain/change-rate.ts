/**
 * One path sent again and again: a database, a log, whatever a program writes to all day long. Each content would be
 * a document that nobody can delete, and costs pages.
 */
import type { Document, Problem } from "./document.ts";

/** Contents of a path that are sent within an hour, where the configuration does not say how many. */
export const CHANGES_PER_HOUR = 5;

const HOUR_MS = 3_600_000;

const CODE = "CHANGED_TOO_OFTEN";

/** Why a path is not sent now, and when (epoch ms) it may be. */
export type TooOften = { readonly problem: Problem; readonly dueAt: number };

/** Whether this content of a path was sent within the last hour, and is there, or was overwritten. */
export function isRecentChange(
  { goneAt, after, sentAt }: Pick<Document, "goneAt" | "after" | "sentAt">,
  now: number,
): boolean {
  // A name that was free in between is another file's. Of a clock that was set back nothing is known but that it was.
  return goneAt === null && after !== "done" && sentAt !== null && now - sentAt < HOUR_MS;
}

/** True once it was held for this with the same content: a person, or time, lets it go on. */
export function hasWaited(problem: Problem | null): boolean {
  return problem?.code === CODE;
}

/** Whether as many contents were sent within the last hour as may be; `recent` are those, the latest first. */
export function tooOften(
  recent: readonly Pick<Document, "sentAt">[],
  now: number,
  max: number,
): TooOften | undefined {
  const first = recent[max - 1];
  if (!first) return undefined;
  const message = `${max} contents of this path were sent within an hour`;
  const sentAt = Math.min(first.sentAt ?? now, now);
  return { problem: { code: CODE, message }, dueAt: sentAt + HOUR_MS };
}
