import { failureOf } from "../domain/failure.ts";
import type { Journal } from "../journal/journal.ts";
import { configuredIds } from "../sync/configured.ts";
import { clause } from "./exit.ts";
import { printable } from "./printable.ts";
import { counted } from "./wording.ts";

/** Documents that are held or failed, or never converted, for one reason. */
export type Trouble = {
  readonly state: "held" | "failed" | "uploaded";
  readonly code: string;
  readonly documents: number;
  /** What one of them met. */
  readonly message: string;
};

/**
 * Why documents of these mirrors are held or failed, the commonest reason first; with `uploaded`
 * among the states, which of these were never converted, too.
 */
export async function troublesOf(
  journal: Journal,
  configured: Parameters<typeof configuredIds>[1],
  states: readonly Trouble["state"][] = ["held", "failed"],
): Promise<Trouble[]> {
  const found = new Map<string, Trouble>();
  const ids = await configuredIds(journal, configured);
  for (const state of states) {
    for await (const { trouble, mirrorId } of journal.list({ state })) {
      if (!ids.has(mirrorId)) continue;
      // Most of these are on their way, and nothing is wrong with them.
      if (state === "uploaded" && trouble?.code !== "CONVERSION_STUCK") continue;
      const { code, message } = trouble ?? { code: "UNKNOWN", message: "no reason is journaled" };
      const key = `${state} ${code}`;
      const documents = (found.get(key)?.documents ?? 0) + 1;
      found.set(key, { state, code, documents, message });
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
export function troubleParts({ state, code, documents, message }: Trouble): {
  readonly what: string;
  readonly mend: string;
} {
  const what = code === "QUOTA_LIMIT" ? `${counted(documents, "document")} wait` : message;
  const said = what.includes(code) ? what : `${code}: ${what}`;
  return {
    what: printable(`${state} ${documents}: ${said}`),
    mend: printable(clause(failureOf(code).hint)),
  };
}
