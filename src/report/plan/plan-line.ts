import type { Document, Problem } from "../../domain/document.ts";
import type { Links } from "../../sync/scan-scheduler.ts";
import type { RawPath } from "../../std/raw-path.ts";
import type { Trial } from "../trial.ts";
import { sentNameOf } from "../../domain/naming.ts";
import type { Decided } from "../../rules/apply-rules.ts";

/** What a run would do with one file that the archive does not have yet. */
export type PlanLine = {
  readonly mirror: string;
  /** Relative to the mirror's source. */
  readonly path: RawPath;
  /** `wait`: not finished yet; it is sent once it is. `skip`: the archive has its content. */
  readonly action: "send" | "hold" | "wait" | "skip";
  /** The archive folder it belongs in, and the id of the one it would go to; null: not known. */
  readonly target: string;
  readonly folderId: number | null;
  /** The path of that one: another than `target` while that is missing, as `missingFolder` says. */
  readonly folder: string | null;
  readonly sentName: string;
  /** Null where pages cannot be counted here. */
  readonly pages: number | null;
  readonly sizeBytes: number;
  readonly digest: string | null;
  /** Why it would be held, or has to wait. */
  readonly problem: Problem | null;
  readonly remark: string | null;
  /** The rule that matched; null: the mirror's own settings. */
  readonly rule: string | null;
  /** What is sent with it, and where each value came from. */
  readonly metadata: Trial["metadata"];
  readonly expires: Trial["expires"];
};

/** The folder that it would go to, as far as it is known. */
export function placeOf({ target, folder, folderId }: PlanLine): string {
  return folderId === null ? target : `${folder ?? target} (id ${folderId})`;
}

/** What was found in one mirror next to the lines. */
export type MirrorPlan = {
  readonly name: string;
  readonly source: string;
  /** Why its source could not be read; null when it could. */
  readonly offline: string | null;
  /** Files whose content the archive has, or is getting, already. */
  readonly archived: number;
  /** Directories and files that could not be read. */
  readonly unreadable: readonly { readonly path: RawPath; readonly problem: Problem }[];
  /** Files that are no documents, by extension, and how many. */
  readonly noDocuments: Readonly<Record<string, number>>;
  /** Links, none of which is followed; null: none, or its source could not be read. */
  readonly links: Links | null;
};

/** Sums over all lines. */
export type PlanTotals = {
  send: number;
  pages: number;
  /** Documents whose pages are not counted. */
  pagesUnknown: number;
  bytes: number;
  hold: number;
  wait: number;
  skip: number;
};

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
