import { constants } from "node:fs";
import { access, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { Config } from "../config/config.ts";
import { shownJournal } from "../network/journal-place.ts";
import { assertNotExchanged, renamedMirrors } from "../daemon/bind-archives.ts";
import { isSolo } from "../journal/cluster.ts";
import type { ArchiveRow, Journal, MirrorRow, Registry, Sharing } from "../journal/journal.ts";
import { networkFileSystem } from "../journal/room.ts";
import { systemClock } from "../std/clock.ts";
import { codeOf } from "../std/fault.ts";
import type { FindingKind } from "../report/finding.ts";
import { withoutFix } from "../report/finding-text.ts";
import { standingOf } from "../report/standing.ts";
import { sizeText } from "../std/wording.ts";
import { statusOf } from "../report/status.ts";
import { readJournal, runningDaemon } from "../journal/open-journal.ts";
import { type CheckResult, fail, failOf, ok, warn } from "./check-result.ts";
import { nearestDirectory } from "./places.ts";

/** With less the journal can hardly be written to; with less than the other it is reported early. Guesses. */
const FREE_BYTES_MIN = 16_000_000;
const FREE_BYTES_SCARCE = 200_000_000;

/** Is the journal whole, on a disk that can hold it, and does a daemon work on it? */
export async function* examineJournal(config: Config): AsyncGenerator<CheckResult> {
  const { journal: place } = config;
  const path = shownJournal(place);
  try {
    if (typeof place !== "string") {
      const { databaseFindings } = await import("./database.ts");
      yield* databaseFindings(place, systemClock);
    }
    await using journal = await readJournal(config);
    yield ok(journal ? `journal ${path} opens` : `the first start creates the journal ${path}`);
    if (typeof place === "string") yield* diskFindings(place);
    const owner = await runningDaemon(config);
    if (journal) yield* contentFindings(journal, config, owner !== undefined);
    yield ok(owner ? `the daemon is running (pid ${owner.pid})` : "the daemon is not running");
  } catch (error) {
    yield failOf("journal", error);
  }
}

async function* diskFindings(path: string): AsyncGenerator<CheckResult> {
  const directory = await nearestDirectory(dirname(path));
  try {
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    const what = `journal: ${directory} is not writable (${codeOf(error)})`;
    yield fail(what, "Give the daemon's user the right to write there, or run check as that user.");
  }
  const { type, bavail, bsize } = await statfs(directory);
  const network = process.platform === "linux" ? networkFileSystem(type) : undefined;
  if (network) yield fail(`journal: ${directory} is on ${network}`, "Put it on a local disk.");
  const free = bavail * bsize;
  const what = `journal: ${sizeText(free)} free on its disk`;
  if (free < FREE_BYTES_MIN) yield fail(what, "Free space: without it, scanferry sends nothing.");
  else if (free < FREE_BYTES_SCARCE) yield warn(what, "Free some space before the disk is full.");
  else yield ok(what);
}

async function* contentFindings(
  journal: Journal,
  config: Config,
  isRunning: boolean,
): AsyncGenerator<CheckResult> {
  const rows = await journal.archives();
  yield* identityFindings(journal, rows, config);
  yield* bindingFindings(await journal.mirrors(), rows, config);
  const now = systemClock.now();
  const report = await statusOf(journal, config, isRunning, now);
  for (const finding of (await standingOf(journal, report)).findings) {
    const { kind, severity, fix } = finding;
    if (EXAMINED.includes(kind)) continue;
    const what = withoutFix(finding, now);
    if (severity === "info") yield ok(what);
    else yield { ...warn(what, fix), isUnsettled: kind === "held" || kind === "failed" };
  }
}

/** Each has an examination of its own, or is what `check` does not ask for. */
const EXAMINED: readonly FindingKind[] = [
  "notRunning",
  "outage",
  "source",
  "unread",
  "unwatched",
  "disk",
  "page",
];

/** What the daemon would refuse to start with: two archives, or mirrors, in one another's place. */
async function* identityFindings(
  journal: Registry & Sharing,
  rows: readonly ArchiveRow[],
  config: Config,
): AsyncGenerator<CheckResult> {
  try {
    assertNotExchanged(config, rows);
    const archives = new Map(rows.map((row) => [row.name, row]));
    if (isSolo(journal.cluster)) renamedMirrors(config, await journal.mirrors(), archives);
  } catch (error) {
    yield failOf("configuration", error);
  }
}

/** A mirror that was carried into another archive; nothing is wrong where nothing was sent. */
function* bindingFindings(
  mirrors: readonly MirrorRow[],
  archives: readonly ArchiveRow[],
  config: Config,
): Generator<CheckResult> {
  for (const { name, archive } of config.mirrors) {
    const row = mirrors.find((mirror) => mirror.name === name);
    const was = archives.find(({ id }) => id === row?.archiveId)?.name;
    if (was === undefined || was === archive) continue;
    yield warn(
      `mirror ${name}: it belongs to the archive ${was} in the journal, and to ${archive} in the configuration`,
      `A mirror that has sent documents keeps its archive: write archive: ${was}, or give the mirror another name.`,
    );
  }
}
