/** What a daemon seeks of the work that a crew shares. */
import type { Config } from "../config/config.ts";
import type { Duty } from "../journal/crew.ts";
import type { MirrorRow } from "../journal/rows.ts";
import { readMounts } from "../source/mounts.ts";
import { isNear } from "./reader-mirror.ts";

/** All duties of these archives and their configured mirrors, and which of them this host is near to. */
export function soughtBy(
  config: Config,
  archiveIds: readonly number[],
  rows: readonly MirrorRow[],
): { readonly duties: Duty[]; readonly near: Duty[] } {
  const mounts = readMounts();
  const mirrors = config.mirrors.flatMap((mirror) => {
    const row = rows.find(({ name }) => name === mirror.name);
    return row ? [{ mirror, row, duty: `mirror:${row.id}` as const }] : [];
  });
  const near = mirrors.filter(({ mirror, row }) => isNear(mirror, mounts, row.device));
  return {
    duties: [
      ...archiveIds.map((id) => `account:${id}` as const),
      ...mirrors.map(({ duty }) => duty),
    ],
    near: near.map(({ duty }) => duty),
  };
}
