/** What a daemon seeks of the work that a cluster shares. */
import type { Config } from "../config/config.ts";
import type { Assignment } from "../journal/cluster.ts";
import type { MirrorRow } from "../journal/rows.ts";
import { readMounts } from "../source/mounts.ts";
import { isLocal } from "../sync/reader-mirror.ts";

/** All assignments of these archives and their configured mirrors, and which of them this host is near to. */
export function soughtBy(
  config: Config,
  archiveIds: readonly number[],
  rows: readonly MirrorRow[],
): { readonly assignments: Assignment[]; readonly local: Assignment[] } {
  const mounts = readMounts();
  const mirrors = config.mirrors.flatMap((mirror) => {
    const row = rows.find(({ name }) => name === mirror.name);
    return row ? [{ mirror, row, assignment: `mirror:${row.id}` as const }] : [];
  });
  const local = mirrors.filter(({ mirror, row }) => isLocal(mirror, mounts, row.device));
  return {
    assignments: [
      ...archiveIds.map((id) => `account:${id}` as const),
      ...mirrors.map(({ assignment }) => assignment),
    ],
    local: local.map(({ assignment }) => assignment),
  };
}
