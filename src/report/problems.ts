import type { Document } from "../domain/document.ts";
import { UNFINISHED_CODES } from "../domain/settle.ts";
import type { DocumentReader, Registry, Reports, Sharing } from "../journal/journal.ts";
import { joinRaw, shown } from "../std/raw-path.ts";
import type { Mirror } from "../config/config.ts";
import { isSolo } from "../journal/cluster.ts";
import type { MirrorRow } from "../journal/rows.ts";

/** Why documents stand still: one problem a state and code, read from the journal. */

/** Documents in one state with one code. Times are epoch milliseconds. */
export type ProblemGroup = {
  readonly state: ProblemState;
  readonly code: string;
  readonly documents: number;
  /** What the first of them met, or all that are named. */
  readonly message: string;
  /** The one that the journal has known longest; `path` is relative to the source of `mirror`. */
  readonly first: {
    readonly id: number;
    readonly mirror: string;
    readonly path: string;
    /** When it came into this state; null: not known. */
    readonly since: number | null;
    /** Null: it waits for something outside. */
    readonly nextAttemptAt: number | null;
  };
  /** Where the problem is about the files themselves: the first of them. */
  readonly paths?: readonly string[];
};

/** Of `uploaded` and `settling` only documents that do not move: most are on their way. */
export type ProblemState = "held" | "failed" | "uploaded" | "settling";

const ONLY: { readonly [S in ProblemState]?: string } = {
  uploaded: "CONVERSION_STUCK",
  settling: "FILE_UNFINISHED",
};

const PROBLEM_STATES: readonly ProblemState[] = ["failed", "held", "uploaded", "settling"];

/** An archive may answer with ever new codes: no more problems than these are read, the largest ones. */
export const PROBLEMS_MAX = 50;

/** So many files are named of one problem. */
const NAMED_MAX = 10;

/** The problems of these mirrors, the commonest first. */
export async function problemsOf(
  journal: DocumentReader & Registry & Reports & Sharing,
  configured: Parameters<typeof configuredIds>[1],
): Promise<ProblemGroup[]> {
  const rows = await configuredRows(journal, configured.mirrors);
  const ids = await configuredIds(journal, configured);
  const areAll = rows.every(({ id }) => ids.has(id));
  const groups = (await journal.withProblem(areAll ? undefined : [...ids])).flatMap((group) => {
    const state = PROBLEM_STATES.find((one) => one === group.state);
    const only = state && ONLY[state];
    const isOne = state !== undefined && (only === undefined || only === group.code);
    return isOne ? { ...group, state } : [];
  });
  const most = groups.toSorted((a, b) => b.documents - a.documents).slice(0, PROBLEMS_MAX);
  const problems: ProblemGroup[] = [];
  for (const { first: id, ...group } of most) {
    const document = await journal.document(id);
    if (!document) continue;
    const mirror = rows.find((row) => row.id === document.mirrorId)?.name ?? "";
    const history = await journal.history(id);
    const since = history.findLast(({ from, to }) => to === group.state && from !== to)?.at ?? null;
    const first = { id, mirror, path: pathOf(document), since, nextAttemptAt: document.dueAt };
    const message = document.problem?.message ?? "no reason is journaled";
    const named = UNFINISHED_CODES.includes(group.code) ? await namedOf(journal, group, ids) : {};
    problems.push({ ...group, message, first, ...named });
  }
  return problems;
}

/** The first files of it; where their reasons differ, also a message that is true of each. */
async function namedOf(
  journal: DocumentReader,
  { state, code }: Pick<ProblemGroup, "state" | "code">,
  ids: ReadonlySet<number>,
): Promise<{ paths: string[]; message?: string }> {
  const paths: string[] = [];
  const reasons = new Set<string | undefined>();
  for await (const document of journal.list({ state, code })) {
    if (!ids.has(document.mirrorId)) continue;
    paths.push(pathOf(document));
    reasons.add(document.problem?.message);
    if (paths.length >= NAMED_MAX) break;
  }
  return reasons.size > 1 ? { paths, message: "look unfinished" } : { paths };
}

function pathOf({ dir, name }: Document): string {
  return shown(joinRaw(dir, name));
}

/**
 * The ids of the mirrors that are configured. The journal keeps the documents of others, too, for when
 * they come back; until then nobody works on them, and nobody has to be told about them.
 */
export async function configuredIds(
  journal: Registry & Sharing,
  { mirrors }: { readonly mirrors: Parameters<typeof configuredRows>[1] },
): Promise<ReadonlySet<number>> {
  const names = new Set(mirrors.map(({ name }) => name));
  const rows = await configuredRows(journal, mirrors);
  return new Set(rows.flatMap(({ id, name }) => (names.has(name) ? [id] : [])));
}

/**
 * The journal's mirrors by the names that the next start gives them: one that has a new name in the configuration
 * is known by its source, as `renamedMirrors` has it. A journal that several daemons share renames none.
 */
export async function configuredRows(
  journal: Registry & Sharing,
  mirrors: readonly Pick<Mirror, "name" | "source" | "archive">[],
): Promise<MirrorRow[]> {
  const rows = await journal.mirrors();
  const known = new Set(rows.map(({ name }) => name));
  const others = mirrors.filter(({ name }) => !known.has(name));
  if (others.length === 0 || !isSolo(journal.cluster)) return rows;
  const archives = await journal.archives();
  const renamed = new Map<number, string>();
  for (const { name, source, archive } of others) {
    const archiveId = archives.find((row) => row.name === archive)?.id;
    const row = rows.findLast((each) => each.source === source && each.archiveId === archiveId);
    if (row) renamed.set(row.id, name);
  }
  return rows.map((row) => ({ ...row, name: renamed.get(row.id) ?? row.name }));
}
