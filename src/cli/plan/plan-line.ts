import type { Problem } from "../../domain/document.ts";
import type { Trial } from "../rules/trial.ts";
import type { Links } from "../../sync/links.ts";
import type { RawPath } from "../../std/raw-path.ts";

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
