/** What a daemon seeks of the work that a crew shares. */
import type { Config } from "../config/config.ts";
import type { Duty } from "../journal/crew.ts";
import type { MirrorRow } from "../journal/rows.ts";
import { readMounts } from "../source/mounts.ts";
import { type Divided, dutiesFor, dutiesOfMirror } from "../sync/duties.ts";
import { isNear } from "./reader-mirror.ts";

/** All duties of these archives and their configured mirrors, and which of them this host is near to. */
export function soughtBy(
  config: Config,
  archiveIds: readonly number[],
  rows: readonly MirrorRow[],
): { readonly duties: Duty[]; readonly near: Duty[] } {
  const mounts = readMounts();
  return {
    duties: archiveIds.flatMap((id) => dutiesFor(id, dividedIn(config, rows, id))),
    near: config.mirrors.flatMap((mirror) => {
      const row = rows.find(({ name }) => name === mirror.name);
      if (!row || !isNear(mirror, mounts, row.device)) return [];
      return dutiesOfMirror({ id: row.id, parts: mirror.parts ?? 1 });
    }),
  };
}

/** The configured mirrors of an archive. */
export function dividedIn(
  config: Config,
  rows: readonly MirrorRow[],
  archiveId: number,
): Divided[] {
  const parts = new Map(config.mirrors.map((mirror) => [mirror.name, mirror.parts ?? 1]));
  return rows.flatMap(({ id, name, archiveId: of }) => {
    const own = parts.get(name);
    return of === archiveId && own !== undefined ? [{ id, parts: own }] : [];
  });
}
