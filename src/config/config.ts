/**
 * The whole configuration, section by section. A section's file has its keys (what each may be, its default, what it
 * means), what its keys cannot say alone, and what the program gets: a new key is an entry in its schema and, where it
 * is renamed or converted, a word in its `…Of`. The reference, the starter and the variables' names follow from it.
 */
import { dirname } from "node:path";
import type { z } from "zod";
import { signingSecretsOf } from "../domain/signing.ts";
import { networkSecretsOf } from "../network/network.ts";
import { invariant } from "../std/fault.ts";
import type { StampedFile } from "../std/small-file.ts";
import {
  accountOf,
  archiveNameOf,
  archiveSchema,
  archivesIn,
  archivesSchema,
  networkTo,
} from "./archive-section.ts";
import { section, setting, settings, type Sketch } from "./kind.ts";
import { duration } from "./kinds.ts";
import { mirrorOf, mirrorsSchema } from "./mirror-section.ts";
import { notifyOf, notifySchema, notifySecretsOf } from "./notify-section.ts";
import {
  batchOf,
  batchSchema,
  conversionOf,
  conversionSchema,
  quotaOf,
  quotaSchema,
  scheduleSchema,
  uploadOf,
  uploadSchema,
} from "./sending-sections.ts";
import {
  journalOf,
  journalSchema,
  logOf,
  logSchema,
  receiptsSchema,
  retentionOf,
  webOf,
  webSchema,
} from "./service-sections.ts";

/** The whole file. */
export const fileSchema = section(
  {
    archive: archiveSchema.optional(),
    archives: archivesSchema,
    mirrors: mirrorsSchema,
    journal: journalSchema,
    upload: uploadSchema,
    batch: batchSchema,
    quota: quotaSchema,
    conversion: conversionSchema,
    schedule: scheduleSchema,
    web: webSchema,
    notify: notifySchema,
    log: logSchema,
    receipts: receiptsSchema,
    shutdown: setting(duration("0", "1h").prefault("20s"), {
      meaning: "How long a stop waits for uploads in progress before it cancels them safely.",
    }),
  },
  "The whole file.",
);

/** The file with every default filled in and every path absolute, its secrets perhaps not yet looked up. */
export type FileShape = z.output<typeof fileSchema>;

/** The same, as far as it could be read: what is missing or wrong is left out. */
export type FileSketch = Sketch<typeof fileSchema>;

/** What a configuration is made from next to its keys. */
export type Origin = {
  /** Of the configuration file. */
  readonly path: string;
  readonly isWritten: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** The files that secrets were read from. */
  readonly files?: readonly StampedFile[] | undefined;
};

function settingsOf(shape: FileShape, { path, isWritten, env, files }: Origin) {
  const folder = dirname(path);
  const archives = archivesIn(shape);
  const [first] = archives;
  invariant(first, "a checked configuration has an archive");
  const [, ...further] = archives.map((archive) => accountOf(archive, env));
  return settings({
    /** The file it was read from, absolute. */
    file: isWritten ? path : undefined,
    /** The archive; where there are several, the first. `accountsOf` gives each its own configuration. */
    archive: accountOf(first, env),
    /** The other ones of `archives`. */
    furtherArchives: further.length === 0 ? undefined : further,
    mirrors: shape.mirrors.map((mirror) =>
      mirrorOf(mirror, archiveNameOf(mirror, archives), folder),
    ),
    journal: journalOf(shape.journal),
    /** Undefined: everything is kept. */
    retention: retentionOf(shape.journal),
    upload: uploadOf(shape.upload),
    batch: batchOf(shape.batch),
    quota: quotaOf(shape.quota),
    conversion: conversionOf(shape.conversion),
    schedule: shape.schedule,
    /** Undefined: no web listener. */
    web: webOf(shape.web),
    /** Undefined: nobody learns about anything. */
    notify: notifyOf(shape.notify, { folder, networkTo: networkTo(first, env) }),
    log: logOf(shape.log),
    /** Where receipts of closed batches are written, absolute, and how; undefined: nowhere. */
    receipts: shape.receipts && settings(shape.receipts),
    /** How long a stop waits for what is in flight. */
    shutdownMs: shape.shutdown,
    secretFiles: files,
  });
}

/**
 * The configuration as the rest of scanferry sees it: everything checked, every default filled in, durations in
 * milliseconds, paths absolute, secrets read. A reload makes a new one.
 */
export type Config = ReturnType<typeof settingsOf>;

/** An archive and the account there. */
export type ArchiveAccount = Config["archive"];

/** A source folder and the archive folder that it is carried into. */
export type Mirror = Config["mirrors"][number];

/** The configuration of a file in which nothing was found wrong. Frozen all the way down. */
export function buildConfig(shape: FileShape, origin: Origin): Config {
  return frozen(settingsOf(shape, origin));
}

/** Everything in the configuration that must never be shown. */
export function secretsOf(config: Config): string[] {
  const { web, notify, journal } = config;
  const secrets = notifySecretsOf(notify);
  for (const { accountKey, signing, network } of archivesOf(config)) {
    secrets.push(accountKey, ...signingSecretsOf(signing), ...networkSecretsOf(network ?? {}));
  }
  if (web?.token !== undefined) secrets.push(web.token);
  if (typeof journal !== "string" && journal.password !== undefined) secrets.push(journal.password);
  return secrets;
}

function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}

/** All archives of a configuration, one or more. */
export function archivesOf(config: Pick<Config, "archive" | "furtherArchives">) {
  return [config.archive, ...(config.furtherArchives ?? [])];
}

/** The configuration as each archive has it: with its own mirrors, and no other archive. */
export function accountsOf(config: Config): Config[] {
  return archivesOf(config).map((archive) => ({
    ...config,
    archive,
    furtherArchives: [],
    mirrors: config.mirrors.filter((mirror) => mirror.archive === archive.name),
  }));
}
