import { failureOf } from "../domain/failure.ts";
import { UNFINISHED_CODES } from "../domain/settle.ts";
import type { Journal } from "../journal/journal.ts";
import { joinRaw, shown } from "../std/raw-path.ts";
import { configuredIds } from "../sync/configured.ts";
import { clause } from "./exit.ts";
import { printable } from "../std/printable.ts";
import { counted } from "../std/wording.ts";

/** Most documents in these states are on their way, and nothing is wrong with them. */
const ONLY: { readonly [S in Trouble["state"]]?: { readonly code: string } } = {
  uploaded: { code: "CONVERSION_STUCK" },
  settling: { code: "FILE_UNFINISHED" },
};

/** Documents that are held or failed, never converted, or not finished yet, for one reason. */
export type Trouble = {
  readonly state: "held" | "failed" | "uploaded" | "settling";
  readonly code: string;
  readonly documents: number;
  /** What one of them met. */
  readonly message: string;
  /** Where it is about the files themselves, the first of them. */
  readonly paths?: readonly string[];
};

/** So many files are named of one trouble. */
const NAMED_MAX = 10;

/**
 * Why documents of these mirrors are held or failed, and which files are not finished, the commonest reason
 * first; with `uploaded` among the states, which of these were never converted, too.
 */
export async function troublesOf(
  journal: Journal,
  configured: Parameters<typeof configuredIds>[1],
  states: readonly Trouble["state"][] = ["held", "failed", "settling"],
): Promise<Trouble[]> {
  const found = new Map<string, Trouble>();
  const ids = await configuredIds(journal, configured);
  for (const state of states) {
    for await (const { trouble, mirrorId, dir, name } of journal.list({ state, ...ONLY[state] })) {
      if (!ids.has(mirrorId)) continue;
      const { code, message } = trouble ?? { code: "UNKNOWN", message: "no reason is journaled" };
      const key = `${state} ${code}`;
      const { documents = 0, paths = [] } = found.get(key) ?? {};
      const all = { state, code, documents: documents + 1, message };
      const path = UNFINISHED_CODES.includes(code) ? [shown(joinRaw(dir, name))] : [];
      const named = [...paths, ...path].slice(0, NAMED_MAX);
      found.set(key, named.length === 0 ? all : { ...all, paths: named });
    }
  }
  return [...found.values()].sort((a, b) => b.documents - a.documents);
}

/** `held 3: QUOTA_LIMIT: …; buy pages or wait …`, a line each. */
export function troubleLines(troubles: readonly Trouble[]): string[] {
  return troubles.map((trouble) => {
    const { what, mend } = troubleParts(trouble);
    return `${what}; ${mend}`;
  });
}

/** What happened, `held 3: QUOTA_LIMIT: …`, and what to do. */
export function troubleParts({ state, code, documents, message, paths = [] }: Trouble): {
  readonly what: string;
  readonly mend: string;
} {
  const what = code === "QUOTA_LIMIT" ? `${counted(documents, "document")} wait` : message;
  const said = what.includes(code) ? what : `${code}: ${what}`;
  const more = documents - paths.length;
  const files = [...paths, ...(more > 0 ? [`${more} more`] : [])].join(", ");
  return {
    what: printable(`${state} ${documents}: ${said}${paths.length === 0 ? "" : `: ${files}`}`),
    mend: printable(clause(failureOf(code).hint)),
  };
}
