import type { Database } from "better-sqlite3";

/** How many steps have made the tables of this database. */
export function schemaVersionOf(db: Database): number {
  return Number(db.pragma("user_version", { simple: true }));
}

/**
 * Takes the steps that the tables lack, the n-th from version n to n + 1, each in one transaction: a crash leaves
 * a whole version. `applicationId` says whose the file is.
 */
export function takeSteps(db: Database, steps: readonly string[], applicationId = 0): void {
  for (const [index, step] of steps.entries()) {
    if (index < schemaVersionOf(db)) continue;
    db.transaction(() => {
      db.exec(step);
      db.pragma(`application_id = ${applicationId}`);
      db.pragma(`user_version = ${index + 1}`);
    }).immediate();
  }
}
