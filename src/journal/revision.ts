/**
 * What the changes that are not events make of a document. Pure, so that every journal decides
 * alike; `life.ts` does the same for events.
 */
import { type Document, mayBeArchived, type State } from "../domain/document.ts";
import { invariant } from "../std/fault.ts";
import { joinRaw, ROOT, shown } from "../std/raw-path.ts";
import { BLANK } from "./columns.ts";
import { type NewDocument, type Note, NOTED, type RowPlace } from "./rows.ts";

/** States a row may be forgotten in, as long as the archive gave no document id for it. */
const FORGETTABLE: readonly State[] = ["settling", "pending", "held", "failed"];

/** The fields by which the row of a file that was just seen differs from others that are new. */
export function seenFields({ mirrorId, dir, name, seen, at, dueAt, supersedes }: NewDocument) {
  return {
    mirrorId,
    dir,
    name,
    state: "settling",
    seen,
    firstSeenAt: at,
    changedAt: at,
    dueAt,
    current: true,
    supersedes,
    // Whom it supersedes may be forgotten before it is.
    ordinary: supersedes === null,
  } as const satisfies Partial<Document>;
}

/** The row of a file that was just seen. */
export function firstRevision(id: number, seen: NewDocument): Document {
  checkedDue(id, seen.dueAt);
  return { ...BLANK, id, ...seenFields(seen) };
}

/** The fields a note sets. Anything next to them is left out, whatever the caller's object holds. */
export function noted(document: Document, set: Note): Partial<Document> {
  if (set.dueAt !== undefined) checkedDue(document.id, set.dueAt);
  return Object.fromEntries(
    NOTED.flatMap((field) => (set[field] === undefined ? [] : [[field, set[field]]])),
  );
}

/**
 * The fields by which a sent row takes over the place of `successor`, which may be of another mirror of its archive, as
 * was found at `at`; `isFiled`: the archive has it where it would go from there.
 */
export function followed(
  document: Document,
  successor: Document,
  { at, isFiled = false }: { readonly at: number; readonly isFiled?: boolean },
): Partial<Document> {
  invariant(
    document.id !== successor.id,
    `document ${document.id} cannot follow document ${successor.id}`,
  );
  const origin = document.movedFrom ?? shownPath(document);
  const { mirrorId } = successor;
  const isBack = origin === shownPath(successor);
  return {
    ...(mirrorId === document.mirrorId ? {} : { mirrorId }),
    dir: successor.dir,
    name: successor.name,
    seen: successor.seen,
    current: true,
    goneAt: null,
    // Moved back to where it was sent from: there is nothing left to tell.
    movedFrom: isBack ? null : origin,
    movedAt: isBack || isFiled ? null : at,
    ordinary: false,
  };
}

/** Either may have moved on since the caller looked; then there is nothing to follow. */
export function mayFollow(document: Document, successor: Document): boolean {
  return mayBeArchived(document) && successor.state === "settling" && successor.current;
}

/** Whether a row's file is still where a change takes it to be. */
export function isAt({ mirrorId, dir }: Document, place: RowPlace): boolean {
  if (mirrorId !== place.mirrorId) return false;
  if (dir === place.dir) return true;
  return place.below === true && (place.dir === ROOT || dir.startsWith(`${place.dir}/`));
}

/** Whether the predecessor of a forgotten row is the path's current one again. */
export function mayRestore(forgotten: Document, predecessor: Document): boolean {
  // One that was moved elsewhere meanwhile has another path's story by now.
  const { mirrorId, dir, name } = predecessor;
  const isThere = dir === forgotten.dir && name === forgotten.name;
  return forgotten.current && isThere && mirrorId === forgotten.mirrorId;
}

/** Throws `InvariantError` when the archive holds, or may hold, the document. */
export function assertForgettable({ id, state, documentId }: Document): void {
  invariant(
    FORGETTABLE.includes(state) && documentId === null,
    `document ${id} was sent (${state}) and is never forgotten`,
  );
}

/** A time that is not a number would be stored as null: the row would never be looked at again. */
export function checkedDue(id: number, dueAt: number | null): number | null {
  invariant(dueAt === null || Number.isFinite(dueAt), `document ${id}: due at ${dueAt}`);
  return dueAt;
}

/** The document's path below the mirror's source, for people. */
export function shownPath({ dir, name }: Pick<Document, "dir" | "name">): string {
  return shown(joinRaw(dir, name));
}
