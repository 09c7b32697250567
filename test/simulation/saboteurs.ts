/**
 * Bugs of the kind the loops are written against, put between them and the world: a simulation that
 * does not find these finds nothing.
 */
import type { Archive } from "../../src/archive/archive.ts";
import { AS_NEW } from "../../src/domain/adopt.ts";
import { ANYWAY } from "../../src/domain/settle.ts";
import type { Applied, Change, Journal } from "../../src/journal/journal.ts";
import type { Inspection } from "../../src/source/source.ts";
import { codeOf } from "../../src/std/fault.ts";
import { sidecarNow } from "./companions.ts";
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

/** Forgets what retention dropped. */
export const TOMBSTONES_FORGOTTEN: Sabotage = {
  often: ["remove", "rename and back", "stop"],
  journal: (journal) => replaced(journal, { tombstones: async () => [] }),
};

/** Sends what waits as if a user had said of each document that it is new. */
export const ALL_AS_NEW: Sabotage = {
  firstRun: true,
  journal: (journal) =>
    replaced(journal, {
      take: async (query) => {
        const due = await journal.take(query);
        if (query.state !== "pending") return due;
        return due.map((document) => ({ ...document, remark: AS_NEW }));
      },
    }),
};

/** Takes what a user said of one content for whatever the file has by then. */
export const WORD_FOR_ANY: Sabotage = { firstRun: true, wordForAny: true, often: ["edit"] };

/** Trusts a journal that was taken back to an earlier state. */
export const UNGUARDED: Sabotage = {
  unguarded: true,
  often: ["snapshot", "taken back to the snapshot"],
};

/** Takes an OK without its list for an empty folder. */
export const HOLLOW_IS_EMPTY: Sabotage = {
  archive: (archive) =>
    replaced(archive, {
      documents: async (query, signal) => {
        try {
          return await archive.documents(query, signal);
        } catch (error) {
          if (codeOf(error) !== "REPLY_UNREADABLE") throw error;
          return { paginationSize: 10, paginationPages: 0, documents: [] };
        }
      },
    }),
};

/** Believes that a document has as many bytes as were sent. */
export const SIZE_UNCOMPARED: Sabotage = {
  archive: (archive, world) =>
    replaced(archive, {
      document: async (id, signal) => {
        const detail = await archive.document(id, signal);
        const sent = world.archive.stored.find((each) => each.id === id)?.sizeBytes;
        return { ...detail, filesize: sent ?? detail.filesize };
      },
    }),
};

/** Takes what proves nothing, whatever the archive answered, for "not stored". */
export const ANY_ERROR_IS_NO: Sabotage = {
  reader: (reader) =>
    replaced(reader, {
      send: async (order, cut) => {
        const outcome = await reader.send(order, cut);
        if (outcome.kind !== "inDoubt" || !/HTTP \d/.test(outcome.problem.message)) return outcome;
        return { kind: "refused", problem: outcome.problem, retryAfterMs: null };
      },
    }),
};

/** Looks for a lost document in its folder alone, wherever a person may have filed it. */
export const ONE_FOLDER: Sabotage = {
  often: ["document filed elsewhere"],
  archive: (archive) =>
    replaced(archive, {
      search: async () => {
        return { paginationSize: 10, paginationPages: 0, documents: [], folders: [] };
      },
    }),
};

/** Believes for ever what it once read of a folder. */
export const FOLDER_BELIEVED: Sabotage = {
  often: ["folder renamed", "write"],
  archive: (archive) => {
    const known = new Map<number | undefined, Awaited<ReturnType<Archive["folder"]>>>();
    return replaced(archive, {
      folder: async (id, signal) => {
        const folder = known.get(id) ?? (await archive.folder(id, signal));
        known.set(id, folder);
        return folder;
      },
    });
  },
};

/** Sends what waits by the settings that it was decided by, whatever was corrected since. */
export const ONCE_DECIDED: Sabotage = {
  often: ["target corrected", "pause or resume"],
  journal: (journal) =>
    replaced(journal, {
      keyValue: async (name) => (name.startsWith("decided:") ? null : journal.keyValue(name)),
    }),
};

/** Knows nothing of what mirrors have sent that are no longer configured. */
export const FORMER_FORGOTTEN: Sabotage = {
  often: ["mirror moved"],
  journal: (journal, world) =>
    replaced(journal, {
      mirrors: async () => (await journal.mirrors()).filter(({ id }) => world.placeOf(id)),
    }),
};

/** Takes a content that is on its way for one that the archive has. */
export const ON_ITS_WAY_IS_THERE: Sabotage = {
  often: ["copy"],
  journal: (journal) =>
    replaced(journal, {
      sentWith: async (...of) => {
        const sent = await journal.sentWith(...of);
        return sent.map((row) => ({ ...row, state: "converted", documentId: row.documentId ?? 0 }));
      },
    }),
};

/** Puts away whatever is touched, though it was archived to be kept. */
export const TOUCH_PUTS_AWAY: Sabotage = {
  often: ["after changed", "touch"],
  journal: (journal) =>
    replaced(journal, {
      apply: (changes) =>
        journal.apply(
          changes.map((change) =>
            change.type === "note" && change.why === "touched, not changed"
              ? { ...change, set: { ...change.set, after: "due" } }
              : change,
          ),
        ),
    }),
};

/** Looks at a file alone, whatever is to stand next to it. */
export const ALONE: Sabotage = {
  reader: (reader) =>
    replaced(reader, {
      inspect: (mirrorId, files, options) =>
        reader.inspect(mirrorId, files, { ...options, alone: true }),
    }),
};

/** Takes a file that was written in place for one that was renamed into it. */
export const RENAME_UNSEEN: Sabotage = {
  reader: (reader) =>
    replaced(reader, {
      inspect: async (mirrorId, files, options) => {
        const found = await reader.inspect(mirrorId, files, options);
        const isWritten = (each: Inspection) =>
          each.kind === "waits" && each.problem.code === "NOT_RENAMED";
        if (!found.some(isWritten)) return found;
        const alone = await reader.inspect(mirrorId, files, { ...options, alone: true });
        return found.map((each, at) => (isWritten(each) ? (alone[at] ?? each) : each));
      },
    }),
};

/** Sends files however young they are. */
export const YOUNG_SENT: Sabotage = {
  settings: (settings) => {
    const { rules } = settings;
    return { ...settings, rules: { ...rules, ready: { ...rules.ready, minAgeMs: 0 } } };
  },
};

/** Takes what an `after` hook failed for as told. */
export const TOLD_ONCE: Sabotage = {
  often: ["hook fails or works"],
  journal: (journal) =>
    replaced(journal, {
      putOffOutboxEntry: (number, tries, dueAt) =>
        tries > 0
          ? journal.endOutboxEntry(number)
          : journal.putOffOutboxEntry(number, tries, dueAt),
    }),
};

/** Tells `after` hooks of documents whose files are still to be moved or deleted. */
export const TOLD_TOO_SOON: Sabotage = {
  journal: (journal) =>
    replaced(journal, {
      document: async (id) => {
        const document = await journal.document(id);
        return document?.after === "due" ? { ...document, after: null } : document;
      },
    }),
};

/** Takes whatever stands next to a file for what was sent with it. */
export const ANY_SIDECAR: Sabotage = {
  often: ["companion", "copy"],
  reader: (reader, { tree }) =>
    replaced(reader, {
      act: (mirrorId, path, expected, action) =>
        reader.act(mirrorId, path, { ...expected, sidecar: sidecarNow(tree, path) }, action),
    }),
};

/** Sends what its hook will not have sent. */
export const VETO_UNHEARD: Sabotage = {
  reader: (reader) =>
    replaced(reader, {
      hook: async (order) => {
        await reader.hook(order);
        return { output: Buffer.from("{}") };
      },
    }),
};

/** Takes a user's word that a half-written file is to be sent for all that follow it there. */
export const ANYWAY_FOR_ALL: Sabotage = {
  often: ["left unfinished", "retry"],
  journal: (journal) =>
    replaced(journal, {
      take: async (query) => {
        const due = await journal.take(query);
        if (query.state !== "settling") return due;
        return due.map((row) =>
          row.firstSeenAt < row.changedAt ? { ...row, remark: ANYWAY } : row,
        );
      },
    }),
};

/** Does not decide again what a hook was added for since. */
export const HOOK_TOO_LATE: Sabotage = {
  ...ONCE_DECIDED,
  often: ["rules changed", "pause or resume"],
};

/** Adopts a document for a file that was written after it. */
export const ADOPTED_OLDER: Sabotage = {
  firstRun: true,
  often: ["adopt"],
  adopts: (archive) =>
    replaced(archive, {
      documents: async (query, signal) => {
        const { documents, ...page } = await archive.documents(query, signal);
        return { ...page, documents: documents.map((each) => ({ ...each, uploadedDate: 9e15 })) };
      },
    }),
};

/** Takes what another archive's mirror sent for sent here. */
export const ANY_ARCHIVE: Sabotage = {
  journal: (journal) =>
    replaced(journal, {
      mirrors: async () =>
        (await journal.mirrors()).map((row) => ({ ...row, archiveId: journal.archiveId })),
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
