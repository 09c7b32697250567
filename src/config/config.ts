import type { PagePolicy } from "../domain/allowance.ts";
import type { Hours } from "../domain/hours.ts";
import type { Signing } from "../domain/signing.ts";
import type { StoredSize } from "../domain/stored-size.ts";
import type { ReceiptFormat } from "../receipts/receipt-folder.ts";
import type { NetworkSettings } from "../network/network.ts";
import type { MirrorRules } from "../rules/rules.ts";
import type { Hooks } from "./hooks.ts";
import type { JournalPlace } from "./journal-place.ts";
import type { NotifyConfig } from "./notify.ts";
import type { SecretFile } from "./secret-file.ts";
import type { After, MissingFolder } from "./place-kinds.ts";

/**
 * The configuration as the rest of scanferry sees it: everything checked, every default filled in,
 * durations in milliseconds, paths absolute, secrets read. Frozen all the way down; a reload makes
 * a new one. `schema.ts` has what each key means.
 */
export type Config = {
  /** The file it was read from, absolute. */
  readonly file: string | undefined;
  /** The archive; where there are several, the first. `accountsOf` gives each its own configuration. */
  readonly archive: ArchiveAccount;
  /** The other ones of `archives`. */
  readonly furtherArchives?: readonly ArchiveAccount[];
  readonly mirrors: Mirror[];
  readonly journal: JournalPlace;
  /** Undefined: everything is kept. */
  readonly retention?: Retention | undefined;
  readonly upload: {
    /** At most; see `domain/concurrency.ts`. */
    readonly concurrency: number;
    /** Of all uploads together; undefined: no limit. */
    readonly bytesPerSecond?: number | undefined;
    /** When uploads may begin; undefined: always. */
    readonly hours?: Hours | undefined;
    readonly retry: RetryInterval;
    /** After a lost reply: how long to look, and how far clocks may differ. */
    readonly doubt: { readonly windowMs: number; readonly toleranceMs: number };
  };
  readonly batch: { readonly quietMs: number; readonly maxDocuments: number };
  readonly quota: {
    readonly retry: RetryInterval;
    /** A cron expression. */
    readonly retryAt: string | undefined;
    /** The page allowance; undefined: none is known. */
    readonly pages?: PagePolicy | undefined;
  };
  readonly conversion: {
    readonly poll: RetryInterval;
    readonly stuckAfterMs: number;
    /** Nothing is sent while so many documents are uploaded and not CONVERTED; undefined: no ceiling. */
    readonly outstandingMax?: number | undefined;
  };
  /** Cron expressions. */
  readonly schedule: { readonly rescan: string };
  /** Undefined: no web listener. `host` is without brackets; port 0 is any free one. */
  readonly web:
    | {
        readonly host: string;
        readonly port: number;
        readonly token?: string;
        /** What a reverse proxy is called by; lower case. */
        readonly names?: readonly string[];
      }
    | undefined;
  /** Undefined: nobody learns about anything. */
  readonly notify?: NotifyConfig | undefined;
  readonly log: { readonly level: LogLevel; readonly file?: LogFileSettings | undefined };
  /** Where receipts of closed batches are written, absolute, and how; undefined: nowhere. */
  readonly receipts?: ReceiptSettings | undefined;
  /** How long a stop waits for what is in flight. */
  readonly shutdownMs: number;
  /** The files that secrets were read from. */
  readonly secretFiles?: readonly SecretFile[];
};

/** An archive and the account there. */
export type ArchiveAccount = {
  /** Unique among the archives; what the journal knows it by. */
  readonly name: string;
  /** `{base_url}`, without a slash at its end. */
  readonly url: string;
  /** `acc_key`. A secret. */
  readonly accountKey: string;
  readonly signing: Signing;
  /** How it is reached; absent: straight. */
  readonly network?: NetworkSettings;
  readonly timeoutMs: number;
  /** Absent: `same`. */
  readonly storedSize?: StoredSize;
};

/** How long the journal keeps details, and how much longer it remembers contents. */
export type Retention = { readonly retainMs: number; readonly rememberMs: number };

/** A log of its own: its file, absolute, the most it holds in bytes, and how many older ones stay. */
export type LogFileSettings = {
  readonly path: string;
  readonly sizeBytesMax: number;
  readonly olderMax: number;
};

/** A folder for receipts, absolute, and the files that each batch gets. */
export type ReceiptSettings = { readonly dir: string; readonly formats: readonly ReceiptFormat[] };

/** An interval that grows from `initialMs` up to `maxMs`. */
export type RetryInterval = { readonly initialMs: number; readonly maxMs: number };

/** A source folder and the archive folder that it is carried into. */
export type Mirror = {
  /** Unique among the mirrors. */
  readonly name: string;
  /** Absolute, normalised, never looked at while the configuration is read. */
  readonly source: string;
  /** The name of the archive it is carried into. */
  readonly archive: string;
  readonly target: { readonly path: string } | { readonly id: number };
  readonly include: string[];
  /** Next to the built-in list; holds the folder of `after: move` when that lies in the source. */
  readonly exclude: string[];
  readonly watch: "auto" | "native" | "polling" | "off";
  readonly settleMs: number;
  readonly incompleteMs: number;
  readonly stillIncomplete: "hold" | "upload";
  readonly missingFolder: MissingFolder;
  readonly firstRun: "hold" | "upload";
  readonly changed: "upload" | "ignore";
  /** Contents of one path that are sent within an hour; absent: `CHANGES_PER_HOUR`. */
  readonly changesPerHour?: number;
  readonly after: After;
  /** What goes with its documents, and where they go. */
  readonly rules: MirrorRules;
  /** Commands that are asked, or told; absent: none. */
  readonly hooks?: Hooks | undefined;
};

/** Least to most important; `silent` logs nothing. */
export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
