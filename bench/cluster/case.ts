import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Postgres } from "../../test/fixtures/postgres.ts";
import type { Bench } from "../daemon/bench.ts";

/** As `Case` of bench/daemon, on a PostgreSQL. */
export type ClusterCase = {
  readonly name: string;
  /** `rows`: how large the journals are. */
  run(bench: Bench, postgres: Postgres, rows: readonly number[]): Promise<void>;
};

export type ClusterSettings = {
  readonly journal: string;
  readonly source: string;
  readonly archive?: string;
  readonly concurrency?: number;
};

/** Nobody listens there. */
const NOWHERE = "http://127.0.0.1:9";

/** Writes the configuration of one of the cluster into `dir`; its path. */
export function configured(dir: string, instance: string, settings: ClusterSettings): string {
  const { journal, source, archive = NOWHERE, concurrency = 2 } = settings;
  const file = join(dir, `${instance}.yaml`);
  writeFileSync(
    file,
    `archive: { url: "${archive}", accountKey: demo, signing: { secret: demo } }
mirrors: [{ name: scans, source: "${source}", target: /, settle: 1ms }]
journal: { url: "${journal}", instance: ${instance} }
upload: { concurrency: ${concurrency} }
web: off
`,
    { mode: 0o600 },
  );
  return file;
}
