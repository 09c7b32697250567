import { archiveSettings, lookUpSettings, openClient } from "../archive/archive-settings.ts";
import { openSigner } from "../archive/credentials.ts";
import { ArchiveError } from "../archive/archive-error.ts";
import type { HttpArchive } from "../archive/http-archive.ts";
import { accountsOf } from "../config/config.ts";
import type { ArchiveAccount, Config, Mirror } from "../config/config.ts";
import { isLoopback } from "../std/web-caller.ts";
import { failureOf } from "../domain/failure.ts";
import { targetPathOf } from "../domain/naming.ts";
import type { Unreached } from "../reader/protocol.ts";
import { Reader } from "../reader/reader.ts";
import { comes, START_MS } from "../reader/liveness.ts";
import { unlessAborted } from "../std/abort.ts";
import { silentLog } from "../std/log.ts";
import { ROOT } from "../std/raw-path.ts";
import { examine } from "../sync/examine-archive.ts";
import { Folders, Placement } from "../sync/folders.ts";
import { spanText } from "../std/wording.ts";
import { UNHEARD } from "../report/stat-reader.ts";
import { readJournal } from "../journal/open-journal.ts";
import { type CheckResult, fail, failOf, type Means, ok, warn } from "./check-result.ts";

/** Beyond this, documents in doubt are looked for in the wrong window, and certificates may fail. */
const CLOCK_MS_MAX = 120_000;

const UNBEGUN: Unreached = {
  code: "READER_DOWN",
  message: `it did not start within ${START_MS / 1_000} s`,
  hint: "Check the host's memory, and its limits of processes (ulimit -u, TasksMax=).",
};

/** Is each archive there, does it accept the account, and does it have the folders? */
export async function* examineArchives(config: Config, means: Means): AsyncGenerator<CheckResult> {
  const accounts = accountsOf(config);
  for (const account of accounts) {
    const named = accounts.length > 1 ? `${account.archive.name}: ` : "";
    for await (const finding of examineArchive(account, means)) {
      yield { ...finding, what: `${named}${finding.what}` };
    }
  }
}

async function* examineArchive(config: Config, means: Means): AsyncGenerator<CheckResult> {
  let archive: HttpArchive;
  try {
    archive = await openClient(lookUpSettings(config), means.clock);
  } catch (error) {
    yield failOf("signing", error);
    return;
  }
  await using client = archive;
  const { signing, url } = config.archive;
  const signal = means.stopping();
  yield* encryptionFindings(url);
  try {
    await client.folder(undefined, signal);
    yield ok(
      `requests are signed with ${"secret" in signing ? `${signing.scheme} ${signing.algorithm}` : signing.scheme}`,
    );
    const unreached = await reachedByReader(config.archive, means);
    if (unreached) {
      const what = `archive ${url}, from the process that sends documents: ${unreached.code}: ${unreached.message}`;
      yield fail(what, unreached.hint);
    } else yield ok(`can reach the archive ${url}`);
    yield ok("the archive accepts the account key and the signature");
  } catch (error) {
    yield* archiveFailure(url, error);
    return;
  }
  yield clockFinding(client.clockOffsetMs);
  yield* identityFinding(config, client, signal);
  const folders = new Folders(client);
  for (const mirror of config.mirrors) yield await targetFinding(mirror, folders, signal);
}

/** Whether the archive is the one that earlier documents were sent to, as far as the journal knows. */
async function* identityFinding(
  config: Config,
  archive: HttpArchive,
  signal: AbortSignal,
): AsyncGenerator<CheckResult> {
  try {
    await using journal = await readJournal(config);
    const row = (await journal?.archives())?.find(({ name }) => name === config.archive.name);
    if (!journal || !row) return;
    const { archive: account, upload } = config;
    const asking = { archive, journal: journal.of(row.id), account, upload };
    const { other } = await examine(asking, 0, signal);
    if (other === undefined) yield ok("the archive is the one that earlier documents were sent to");
    else yield fail(`ARCHIVE_CHANGED: ${other}`, failureOf("ARCHIVE_CHANGED").hint);
  } catch (error) {
    yield failOf("identity of the archive", error);
  }
}

/** Anyone who is on the way could read the account key and every document, and answer in the archive's place. */
export function* encryptionFindings(url: string): Generator<CheckResult> {
  const { protocol, hostname } = new URL(url);
  if (protocol === "https:" || isLoopback(hostname.replaceAll(/[[\]]/g, ""))) return;
  const what = `the connection to the archive ${url} is not encrypted`;
  yield warn(
    what,
    "Write https:// in `archive.url`, unless the network is protected in another way.",
  );
}

/** Asks once more by a reader process, as every document is sent. */
async function reachedByReader(account: ArchiveAccount, means: Means): Promise<Unreached | null> {
  const { clock, random } = means;
  const settings = archiveSettings(account, 1);
  const signer = await openSigner(account.signing);
  const begun = Promise.withResolvers<void>();
  await using reader = Reader.open({
    name: account.name,
    mirrors: async () => [],
    archive: () => settings,
    daemon: UNHEARD,
    sign: async (...request) => signer.sign(...request),
    started: () => begun.resolve(),
    clock,
    random,
    log: silentLog,
  });
  const reached = comes(begun.promise, START_MS, clock).then((isUp) =>
    isUp ? reader.reach() : UNBEGUN,
  );
  // Awaited here, for the reader ends with this scope.
  return await unlessAborted(reached, means.stopping());
}

const ADDRESS_FIX = "Check host, port and path of `archive.url`.";

/** Of a bare status nobody knows that it came from an archive; 502 to 504 are of a proxy whose archive is down. */
function* archiveFailure(url: string, error: unknown): Generator<CheckResult> {
  const { code, httpStatus } = error instanceof ArchiveError ? error : {};
  const isBare = code === `HTTP_${httpStatus}` || code === "REPLY_UNREADABLE";
  if (error instanceof ArchiveError && code === "CREDENTIALS_REFUSED") {
    const fix = "Check `archive.url`, then `archive.accountKey` and `archive.signing`.";
    const what = `archive ${url}: a web server answers there with HTTP ${httpStatus}, and not in the archive's words`;
    yield fail(`${what}: ${code}: ${error.message}`, fix);
  } else if (error instanceof ArchiveError && error.credentials) {
    yield ok(`can reach the archive ${url}`);
    const wrong = wrongCredential(error.code);
    const finding = failOf(wrong?.what ?? "account key and signature", error);
    // A clock that is wrong has its own hint.
    const isPlain = error.hint === failureOf("CREDENTIALS_REFUSED").hint;
    yield wrong && isPlain ? { ...finding, fix: wrong.fix } : finding;
  } else if (isBare && ![500, 502, 503, 504].includes(httpStatus ?? 0)) {
    const what = `archive ${url}: a web server answers there with HTTP ${httpStatus}, but it is not the archive`;
    yield fail(what, ADDRESS_FIX);
  } else if (error instanceof ArchiveError && httpStatus === 404 && error.unnamed) {
    yield { ...failOf(`archive ${url}`, error), fix: ADDRESS_FIX };
  } else if (code === "CONNECTION_LOST" && url.startsWith("http:")) {
    const fix = "If the archive uses https on that port, write https:// in `archive.url`.";
    yield { ...failOf(`archive ${url}`, error), fix };
  } else if (error instanceof ArchiveError && error.code === "SIGNING_FAILED") {
    yield failOf("signing", error);
  } else {
    yield failOf(`archive ${url}`, error);
  }
}

/** Which of the two an archive means that says so. */
function wrongCredential(code: string): { what: string; fix: string } | undefined {
  if (/SIG/.test(code)) {
    const fix = "Check the secret, `scheme`, `algorithm` and `encoding` of `archive.signing`.";
    return { what: "the signature is wrong", fix };
  }
  if (/KEY/.test(code))
    return { what: "the account key is wrong", fix: "Check `archive.accountKey`." };
  return undefined;
}

function clockFinding(offsetMs: number | undefined): CheckResult {
  if (offsetMs === undefined) return ok("clock: the archive does not say its time");
  const span = spanText(offsetMs);
  if (Math.abs(offsetMs) <= CLOCK_MS_MAX) return ok("the clock agrees with the archive's clock");
  return warn(
    `the clock is ${span} ${offsetMs > 0 ? "behind" : "ahead of"} the archive's clock`,
    "Set the host's clock, e.g. by NTP.",
  );
}

/** The folder that a mirror is carried into, or what takes its place; without either, all its documents wait. */
async function targetFinding(
  mirror: Mirror,
  folders: Folders,
  signal: AbortSignal,
): Promise<CheckResult> {
  const { name, target, missingFolder } = mirror;
  const path = targetPathOf(target, ROOT);
  try {
    const found = await folders.resolve(path, signal);
    if (found.kind === "found")
      return ok(`mirror ${name}: archive folder ${path} (id ${found.folderId})`);
    const placed = await new Placement(folders).of(path, { settings: mirror }, signal);
    if ("problem" in placed) {
      const { code, message } = placed.problem;
      return fail(`mirror ${name}: ${message}`, failureOf(code).hint);
    }
    const instead =
      missingFolder.kind === "fallback" ? missingFolder.path : "the nearest folder above it";
    return warn(
      `mirror ${name}: ${found.problem.message}; its documents go to ${instead} (id ${placed.folderId})`,
      "If you do not want that, create the folder before documents are sent: archived documents are not moved later.",
    );
  } catch (error) {
    return failOf(`mirror ${name}: archive folder ${path}`, error);
  }
}
