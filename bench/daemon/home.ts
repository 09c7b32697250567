/** A configuration and a journal of their own for the built program. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BIN } from "../../test/fixtures/a-process.ts";
import type { Bench } from "./bench.ts";
import { type Cost, costOf } from "./cost.ts";
import { RunningDaemon } from "./running-daemon.ts";

export type HomeSettings = {
  readonly source: string;
  /** Nobody listens at the default. */
  readonly archive?: string;
  readonly settle?: string;
  readonly watch?: "native" | "off";
  readonly concurrency?: number;
};

/** Deliberately a port that refuses. */
const NOWHERE = "http://127.0.0.1:9";
/** A scan by the clock would fall into what is measured of a daemon that is idle. */
const NEVER = "0 3 29 2 1";

export class Home {
  readonly dir: string;

  constructor(bench: Bench, name: string) {
    this.dir = bench.place("homes", name);
  }

  get journal(): string {
    return join(this.dir, "journal.db");
  }

  get #config(): string {
    return join(this.dir, "scanferry.yaml");
  }

  /** An empty journal. */
  forget(): void {
    for (const end of ["", "-wal", "-shm", ".lock"]) rmSync(this.journal + end, { force: true });
  }

  configure(settings: HomeSettings): void {
    const { source, archive = NOWHERE, settle = "1ms", watch = "native" } = settings;
    const text = `archive: { url: "${archive}", accountKey: demo, signing: { secret: demo } }
mirrors: [{ name: scans, source: "${source}", target: /, settle: ${settle}, watch: ${watch} }]
journal: journal.db
upload: { concurrency: ${settings.concurrency ?? 8} }
web: off
schedule: { rescan: "${NEVER}" }
log: { level: info }
`;
    writeFileSync(this.#config, text, { mode: 0o600 });
  }

  /** A command, from its start to its end. */
  cost(...words: string[]): Promise<Cost> {
    return costOf(BIN, ["--config", this.#config, ...words]);
  }

  /** The daemon in the foreground. */
  run(): RunningDaemon {
    return new RunningDaemon(this.#config, join(this.dir, "log"));
  }
}
