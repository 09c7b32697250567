import type { Mirror } from "../config/config.ts";
import { isSolo } from "../journal/cluster.ts";
import type { Registry, Sharing } from "../journal/journal.ts";
import type { MirrorRow } from "../journal/rows.ts";

/**
 * The journal's mirrors by the names that the next start gives them: one that has a new name in the configuration
 * is known by its source, as `renamedMirrors` has it. A journal that several daemons share renames none.
 */
export async function configuredRows(
  journal: Registry & Sharing,
  mirrors: readonly Pick<Mirror, "name" | "source" | "archive">[],
): Promise<MirrorRow[]> {
  const rows = await journal.mirrors();
  const known = new Set(rows.map(({ name }) => name));
  const others = mirrors.filter(({ name }) => !known.has(name));
  if (others.length === 0 || !isSolo(journal.cluster)) return rows;
  const archives = await journal.archives();
  const renamed = new Map<number, string>();
  for (const { name, source, archive } of others) {
    const archiveId = archives.find((row) => row.name === archive)?.id;
    const row = rows.findLast((each) => each.source === source && each.archiveId === archiveId);
    if (row) renamed.set(row.id, name);
  }
  return rows.map((row) => ({ ...row, name: renamed.get(row.id) ?? row.name }));
}
