import type { Document, Problem } from "../../domain/document.ts";
import { sentNameOf } from "../../domain/naming.ts";
import type { Decided } from "../../rules/apply-rules.ts";
import type { PlanLine } from "./plan-line.ts";

/** What is decided of a file; the rest of its line follows from its path. */
export type LineFields = {
  readonly action: PlanLine["action"];
  readonly folderId?: number | null;
  readonly folder?: string | null;
  readonly pages?: number | null;
  readonly digest?: string | null;
  readonly decided?: Decided;
  readonly problem?: Problem | null;
  readonly remark?: string | null;
};

/** What is decided of a file that is ready. */
export type Going = Omit<LineFields, "action"> & {
  readonly digest: string;
  readonly decided: Decided;
};

/** What was decided of a document that waits: it goes on as it stands in the journal. */
export function journaled(document: Document): Omit<LineFields, "action"> {
  const { folderId, estimate, digest, problem, remark, targetPath, sentName, attributes } =
    document;
  const fields = { folderId, pages: estimate, digest, problem, remark };
  if (targetPath === null || sentName === null) return fields;
  const name = { ...sentNameOf(document.name), name: sentName };
  return {
    ...fields,
    decided: { rule: attributes?.rule ?? null, folder: targetPath, name, attributes },
  };
}
