import type { Config } from "../config/config.ts";
import type { Document } from "../domain/document.ts";
import type { DocumentReader, ListQuery, Registry } from "../journal/journal.ts";
import { joinRaw, type RawPath } from "../std/raw-path.ts";
import { mirrorNamed, placeOf } from "./paths.ts";
import { UsageError } from "../std/fault.ts";

/** Where typed names and paths are looked up. */
export type Scope = {
  readonly cwd: string;
  readonly pwd?: string | undefined;
  readonly config: Config;
  /** What `--mirror` says. */
  readonly mirror: string | undefined;
};

/**
 * The queries that together give the documents that are meant: those at and below each path, of one
 * mirror where it is named; all without either. A mirror that is no longer in the configuration can
 * still be named as long as the journal has it. Throws `UsageError`.
 */
export async function queriesOf(
  paths: readonly string[],
  { cwd, pwd, config, mirror }: Scope,
  journal: (DocumentReader & Registry) | undefined,
): Promise<ListQuery[]> {
  const rows = (await journal?.mirrors()) ?? [];
  const row = rows.find(({ name }) => name === mirror);
  const isFormer = row && !config.mirrors.some(({ name }) => name === mirror);
  if (isFormer) {
    if (paths.length > 0) {
      throw new UsageError(
        `mirror ${mirror} is not in the configuration any more; give it without a path`,
      );
    }
    return [{ mirrorId: row.id }];
  }
  const mirrors = mirror === undefined ? config.mirrors : [mirrorNamed(mirror, config.mirrors)];
  if (paths.length === 0) {
    if (mirror === undefined) return [{}];
    return row ? [{ mirrorId: row.id }] : [];
  }
  const places: Known[] = [];
  for (const typed of paths) {
    const { mirrorId, path } = await placeOf(typed, { cwd, pwd, mirrors }, journal);
    if (mirrorId !== null) places.push({ mirrorId, path });
  }
  return outermost(places).map((path) => ({ path }));
}

/** A place in a mirror that the journal has. */
type Known = NonNullable<ListQuery["path"]>;

/** Those that lie below no other: what was typed twice, or inside of another, is meant once. */
function outermost(places: readonly Known[]): Known[] {
  return places.filter(
    (place, at) =>
      !places.some(
        (other, index) =>
          index !== at &&
          other.mirrorId === place.mirrorId &&
          isAtOrBelow(place.path, other.path) &&
          (other.path !== place.path || index < at),
      ),
  );
}

/** True for a document that one of `queriesOf` is about. */
export function covers({ mirrorId, path }: ListQuery, document: Document): boolean {
  const wanted = path?.mirrorId ?? mirrorId;
  if (wanted !== undefined && wanted !== document.mirrorId) return false;
  if (path === undefined) return true;
  return isAtOrBelow(joinRaw(document.dir, document.name), path.path);
}

function isAtOrBelow(path: RawPath, top: RawPath): boolean {
  return top === "" || path === top || path.startsWith(`${top}/`);
}
