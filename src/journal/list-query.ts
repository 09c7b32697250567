import type { Document, State } from "../domain/document.ts";
import type { RawPath } from "../std/raw-path.ts";

/** Filters of `Journal.list`. */
export type ListQuery = {
  readonly state?: State;
  readonly mirrorId?: number;
  readonly code?: string;
  /** This path, or anything below it. */
  readonly path?: { mirrorId: number; path: RawPath };
  readonly currentOnly?: boolean;
};

/** What `Journal.listPage` is asked for. */
export type PageQuery = {
  /**
   * `latest`: as they were first seen, the latest first; `path`: the order of `Journal.list`; `uploaded`: what was
   * uploaded, the latest first, of which there is the first page alone.
   */
  readonly order: "latest" | "path" | "uploaded";
  /** Only those behind this row; in the order of paths it has to be there still. */
  readonly after?: number | undefined;
  /** Rows to look at, at most. */
  readonly rows?: number | undefined;
  readonly states?: readonly State[] | undefined;
  readonly mirrorId?: number | undefined;
  readonly code?: string | undefined;
  /** In lower case; those whose path does not hold it may be left out, which is much quicker. */
  readonly text?: string | undefined;
};

/** Those of the rows that were looked at which are asked for. */
export type DocumentPage = {
  readonly documents: readonly Document[];
  /** The last row that was looked at: for `after`, to go on; null: there are no more. */
  readonly last: number | null;
};
