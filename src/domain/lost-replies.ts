/**
 * What was sent without a reply and is not in the archive: it may be sent again. Where that repeats
 * itself, the way to the archive cannot carry this document, and each attempt is another chance of
 * a late commit; so each is looked for longer than the last, and in the end a person is asked.
 */
import type { Document, Problem } from "./document.ts";
import type { Event } from "./event.ts";
import { DOUBT_CODES, ELSEWHERE, FOLDER_GONE, TAKEN_CODES } from "./code-sets.ts";

/** Attempts in a row without a reply before a person is asked: four hours of them, by the usual window. */
export const LOST_MAX = 8;

/** What only a person who asked has let go on: that it may lie elsewhere in the archive was looked into. */
export const ASKED_CODES: readonly string[] = [
  FOLDER_GONE,
  ELSEWHERE,
  "REPLIES_LOST",
  ...TAKEN_CODES,
];

/** The longest window that grows on its own. */
const WINDOW_MS_MAX = 6 * 3_600_000;

/**
 * The patience of a document whose reply is lost with `problem`: how many attempts in a row before this
 * one were lost, and not found. One that the archive took is none of them.
 */
export function lostBefore(
  { problem: before, consecutiveFailures }: Document,
  problem: Problem,
): number {
  return before?.code === "REPLY_LOST" && !TAKEN_CODES.includes(problem.code)
    ? consecutiveFailures
    : 0;
}

/** How long a document in doubt is looked for before it is called absent: twice as long each time. */
export function doubtWindowMs(
  { problem, consecutiveFailures }: Pick<Document, "problem" | "consecutiveFailures">,
  windowMs: number,
): number {
  // Held before: whatever ended that, time or a person, makes it a new question.
  if (DOUBT_CODES.includes(problem?.code ?? "")) return windowMs;
  return Math.min(
    windowMs * 2 ** Math.min(consecutiveFailures, LOST_MAX),
    Math.max(windowMs, WINDOW_MS_MAX),
  );
}

/** What becomes of a document in doubt that the archive does not have; `isThere`: its folder is. */
export function absence(
  { problem, consecutiveFailures }: Pick<Document, "problem" | "consecutiveFailures">,
  at: number,
  isThere: boolean,
): Event {
  // Not lost: the archive spoke of another name, folder or id. One that names things its own way does
  // so each time, so that only a person sends that again: who asks for it has found nothing either.
  if (problem && consecutiveFailures === 0 && TAKEN_CODES.includes(problem.code)) {
    return { type: "heldBack", at, dueAt: null, problem };
  }
  // Anyone who removed the folder may have moved what was in it.
  if (!isThere && !ASKED_CODES.includes(problem?.code ?? "")) {
    const message = `sent, reply lost${problem ? ` (${problem.message})` : ""}; the folder it was sent to is gone`;
    return { type: "heldBack", at, dueAt: null, problem: { code: FOLDER_GONE, message } };
  }
  if (problem === null || DOUBT_CODES.includes(problem.code)) return { type: "absent", at };
  const losses = consecutiveFailures + 1;
  if (losses < LOST_MAX) {
    return { type: "absent", at, problem: { code: "REPLY_LOST", message: problem.message } };
  }
  const message = `sent ${losses} times in a row, each time without an answer that proves anything, and not found: ${problem.message}`;
  return { type: "heldBack", at, dueAt: null, problem: { code: "REPLIES_LOST", message } };
}
