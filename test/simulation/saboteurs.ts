/**
 * Bugs of the kind the loops are written against, put between them and the world: a simulation that
 * does not find these finds nothing.
 */
import type { Applied, Change, Journal } from "../../src/journal/journal.ts";
import type { Inspection } from "../../src/source/source.ts";
import { guarded } from "./life.ts";
import type { Source, UsedReader } from "./simulated-reader.ts";
import { digestOf } from "./simulated-tree.ts";
import type { Sabotage, SimulatedWorld } from "./simulated-world.ts";

/** Sends before the intent is committed: `claimed` is written only with what became of it. */
export const LATE_INTENT: Sabotage = {
  journal: (journal, world) => replaced(journal, lateIntent(journal, world)),
};

/** Takes every file for finished as soon as it is looked at. */
export const HALF_IS_WHOLE: Sabotage = {
  reader: (reader, source) => replaced(reader, { inspect: wholeAnyway(reader, source) }),
};

/** Gives up the search for a lost document after one look. */
export const ONE_LOOK: Sabotage = {
  journal: (journal) =>
    replaced(journal, {
      take: async (query) => {
        const due = await journal.take(query);
        if (query.state !== "inDoubt") return due;
        return due.map((document) => ({ ...document, doubtAt: 0, looks: 1_000 }));
      },
    }),
};

function lateIntent(journal: Journal, world: SimulatedWorld): Partial<Journal> {
  const owed = new Map<number, Change>();
  // This life does not see what it owes, so that only the next one can be misled.
  const take: Journal["take"] = async (query) =>
    (await journal.take(query)).filter(({ id }) => !owed.has(id));
  const apply: Journal["apply"] = async (changes) => {
    const applied: Applied[] = [];
    for (const change of changes) {
      const document = "id" in change ? await journal.document(change.id) : undefined;
      if (change.type === "event" && change.event.type === "claimed" && document) {
        const { folderId, batch, at: sentAt } = change.event;
        const attempts = document.attempts + 1;
        owed.set(change.id, change);
        const claimed = { ...document, state: "uploading", folderId, batch, sentAt, attempts };
        world.trace.add("saboteur", `keeps the intent of ${change.id} to itself`);
        applied.push({ change, document: claimed as never, from: "pending", skipped: false });
        continue;
      }
      const intent = "id" in change ? owed.get(change.id) : undefined;
      if ("id" in change) owed.delete(change.id);
      applied.push(...(await journal.apply(intent ? [intent, change] : [change])).slice(-1));
    }
    return applied;
  };
  return { take, apply };
}

function wholeAnyway(reader: UsedReader, { tree }: Source): UsedReader["inspect"] {
  return async (mirrorId, files, options) => {
    const found = await reader.inspect(mirrorId, files, options);
    return found.map((inspection, index): Inspection => {
      const path = files[index]?.path;
      const file = path === undefined ? undefined : tree.at(path);
      if (!file || inspection.kind !== "whole") return inspection;
      const { content, seen } = file;
      return { kind: "whole", digest: digestOf(content), seen, completeness: "complete" };
    });
  };
}

/** The same object with some of its methods replaced. */
function replaced<T extends object>(target: T, methods: Partial<T>): T {
  return Object.assign(
    guarded(target, (_, effect) => effect()),
    methods,
  );
}
