import { basename, isAbsolute, relative, resolve, sep } from "node:path";
import type { Sketch } from "./file-schema.ts";
import { writtenJournal } from "./written-journal.ts";

/** The places on disk that a configuration speaks of, absolute, as far as they could be read. */
export type Layout = {
  /** Of the configuration file: relative paths are relative to it. */
  readonly folder: string;
  /** Undefined also where it is in PostgreSQL. */
  readonly journal: string | undefined;
  /** The log's own file. */
  readonly log: string | undefined;
  /** The folder of receipts. */
  readonly receipts: string | undefined;
  readonly mirrors: MirrorLayout[];
};

/** The places and the name of one mirror. */
export type MirrorLayout = {
  readonly name: string | undefined;
  readonly source: string | undefined;
  /** The folder of `after: move`. */
  readonly moveTo: string | undefined;
};

/** Resolves every path against the folder of the configuration file. Looks at no disk. */
export function layoutOf(sketch: Sketch, folder: string): Layout {
  const at = (path: string | undefined) => (path === undefined ? undefined : resolve(folder, path));
  const { journal, receipts } = sketch;
  return {
    folder,
    journal: at(journalPathIn(journal)),
    log: at(sketch.log?.file),
    receipts: at(typeof receipts === "string" ? receipts : receipts?.dir),
    mirrors: (sketch.mirrors ?? []).map((mirror) => {
      const source = at(mirror?.source);
      const after = mirror?.after;
      return {
        source,
        name: mirror?.name ?? (source === undefined ? undefined : basename(source)),
        moveTo: after?.kind === "move" ? at(after.to) : undefined,
      };
    }),
  };
}

/** Where the journal's file is when nothing is said of it. */
const JOURNAL_PATH = "/var/lib/scanferry/journal.db";

function journalPathIn(journal: Sketch["journal"]): string | undefined {
  if (journal === undefined) return undefined;
  const { path, url } = writtenJournal(journal);
  return path ?? (url ? undefined : JOURNAL_PATH);
}

/** The way from `folder` down to `path`: empty when they are the same, undefined when not below. */
export function wayDown(folder: string, path: string): string | undefined {
  const way = relative(folder, path);
  if (way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way)) return undefined;
  return way.split(sep).join("/");
}

/** True when `path` is `folder` itself or lies below it. */
export function isWithin(folder: string, path: string): boolean {
  return wayDown(folder, path) !== undefined;
}
