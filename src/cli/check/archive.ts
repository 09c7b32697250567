import { ArchiveError } from "../../archive/archive-error.ts";
import type { HttpArchive } from "../../archive/http-archive.ts";
import { accountsOf } from "../../config/archives.ts";
import type { Config, Mirror } from "../../config/config.ts";
import { isLoopback } from "../../config/notify-kinds.ts";
import { openClient } from "../archive-client.ts";
import { lookUpSettings } from "../archive-settings.ts";
import { failureOf } from "../../domain/failure.ts";
import { targetPathOf } from "../../domain/naming.ts";
import { ROOT } from "../../std/raw-path.ts";
import { Folders } from "../../sync/folders.ts";
import { Placement } from "../../sync/placement.ts";
import type { Shell } from "../shell.ts";
import { spanText } from "../wording.ts";
import { fail, failOf, type Finding, ok, warn } from "./finding.ts";

/** Beyond this, documents in doubt are looked for in the wrong window, and certificates may fail. */
const CLOCK_MS_MAX = 120_000;

/** Is each archive there, does it accept the account, and does it have the folders? */
export async function* examineArchives(config: Config, shell: Shell): AsyncGenerator<Finding> {
  const accounts = accountsOf(config);
  for (const account of accounts) {
    const named = accounts.length > 1 ? `${account.archive.name}: ` : "";
    for await (const finding of examineArchive(account, shell)) {
      yield { ...finding, what: `${named}${finding.what}` };
    }
  }
}

async function* examineArchive(config: Config, shell: Shell): AsyncGenerator<Finding> {
  let archive: HttpArchive;
  try {
    archive = await openClient(lookUpSettings(config), shell.clock);
  } catch (error) {
    yield failOf("signing", error);
    return;
  }
  await using client = archive;
  const { signing, url } = config.archive;
  const signal = shell.stopping();
  yield* encryptionFindings(url);
  try {
    await client.folder(undefined, signal);
    yield ok(
      `signing by ${signing.scheme === "hmac" ? `hmac ${signing.algorithm}` : signing.scheme}`,
    );
    yield ok(`archive ${url} is reached`);
    yield ok("account key and signature are accepted");
  } catch (error) {
    yield* archiveFailure(url, error);
    return;
  }
  yield clockFinding(client.clockOffsetMs);
  const folders = new Folders(client);
  for (const mirror of config.mirrors) yield await targetFinding(mirror, folders, signal);
}

/** Whoever is on the way could read the account key and every document, and answer in the archive's place. */
export function* encryptionFindings(url: string): Generator<Finding> {
  const { protocol, hostname } = new URL(url);
  if (protocol === "https:" || isLoopback(hostname.replaceAll(/[[\]]/g, ""))) return;
  const what = `archive ${url} is spoken to without encryption`;
  yield warn(
    what,
    "Write https:// in `archive.url`, unless the way there is protected by other means.",
  );
}

function* archiveFailure(url: string, error: unknown): Generator<Finding> {
  if (error instanceof ArchiveError && error.credentials) {
    yield ok(`archive ${url} is reached`);
    yield failOf("account key and signature", error);
  } else if (error instanceof ArchiveError && error.code === "SIGNING_FAILED") {
    yield failOf("signing", error);
  } else {
    yield failOf(`archive ${url}`, error);
  }
}

function clockFinding(offsetMs: number | undefined): Finding {
  if (offsetMs === undefined) return ok("clock: the archive does not tell its own");
  const span = spanText(offsetMs);
  if (Math.abs(offsetMs) <= CLOCK_MS_MAX) return ok("clock agrees with the archive's");
  return warn(
    `clock is ${span} ${offsetMs > 0 ? "behind" : "ahead of"} the archive's`,
    "Set the host's clock, e.g. by NTP.",
  );
}

/** The folder that a mirror is carried into, or what takes its place; without either, all its documents wait. */
async function targetFinding(
  mirror: Mirror,
  folders: Folders,
  signal: AbortSignal,
): Promise<Finding> {
  const { name, target, missingFolder } = mirror;
  const path = targetPathOf(target, ROOT);
  try {
    const found = await folders.resolve(path, signal);
    if (found.kind === "found")
      return ok(`mirror ${name}: archive folder ${path} (id ${found.folderId})`);
    const placed = await new Placement(folders).of(path, { settings: mirror }, signal);
    if ("trouble" in placed) {
      const { code, message } = placed.trouble;
      return fail(`mirror ${name}: ${message}`, failureOf(code).hint);
    }
    const instead =
      missingFolder.kind === "fallback" ? missingFolder.path : "the nearest folder above it";
    return warn(
      `mirror ${name}: ${found.trouble.message}; its documents go to ${instead} (id ${placed.folderId})`,
      "Create the folder before anything is sent, unless that is meant: what is archived stays where it is.",
    );
  } catch (error) {
    return failOf(`mirror ${name}: archive folder ${path}`, error);
  }
}
