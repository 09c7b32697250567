/** The places that the daemon writes to next to the journal: log, receipts, where finished files go; and the page. */
import { constants, existsSync } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { Config, Mirror } from "../config/config.ts";
import { isNetwork, type Mount, mountOf, readMounts, unmountedNow } from "../source/mounts.ts";
import { codeOf } from "../std/fault.ts";
import { sizeText } from "../std/wording.ts";
import { runningDaemon } from "../journal/open-journal.ts";
import { type CheckResult, fail, ok, warn } from "./check-result.ts";
import { createServer } from "node:net";
import { tokenPlace } from "../daemon/page-token.ts";
import { addressOf } from "../dashboard/address.ts";

/** With less it is reported early that room runs out. A guess. */
const FREE_BYTES_SCARCE = 100_000_000;

/** Can what the configuration names be written to, and is there room? */
export async function* examinePlaces(config: Config): AsyncGenerator<CheckResult> {
  const { log, receipts } = config;
  // First: where the share hangs, the look at it does too.
  yield* shareFindings(config, readMounts());
  if (log.file) yield await placeFinding("log", log.file.path, dirname(log.file.path));
  if (receipts) yield await placeFinding("receipts", receipts.dir, receipts.dir);
  for (const mirror of config.mirrors) yield* afterFindings(mirror);
  if (!config.web) return;
  if ((await runningDaemon(config)) === undefined) yield await portFinding(config.web);
  yield* tokenFindings(config);
}

async function placeFinding(name: string, shown: string, folder: string): Promise<CheckResult> {
  const directory = await nearestDirectory(folder);
  try {
    if (await isThere(shown)) await access(shown, constants.W_OK);
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { why, fix } = unwritable(error);
    return fail(`${name}: ${shown} ${why}`, `${fix}.`);
  }
  const { bavail, bsize } = await statfs(directory);
  const what = `${name}: ${shown}, ${sizeText(bavail * bsize)} free`;
  return bavail * bsize < FREE_BYTES_SCARCE
    ? warn(what, "Free some space before the disk is full.")
    : ok(what);
}

/** What the daemon writes itself, and not by way of a reader that can be killed, belongs on a local disk. */
export function* shareFindings(
  { log, receipts }: Pick<Config, "log" | "receipts">,
  mounts: readonly Mount[],
): Generator<CheckResult> {
  const fixes = [
    ["log", log.file?.path, "if the share hangs, the daemon stops at its next log line."],
    ["receipts", receipts?.dir, "if the share hangs, receipts wait, and the daemon cannot end."],
  ] as const;
  for (const [name, path, why] of fixes) {
    const mount = path === undefined ? undefined : mountOf(path, mounts);
    if (!mount || !isNetwork(mount)) continue;
    const what = `${name}: ${path} is on a network file system (${mount.fsType})`;
    yield warn(what, `Put ${name === "log" ? "it" : "them"} on a local disk: ${why}`);
  }
}

/** Can files be moved or deleted by each of its keys? */
async function* afterFindings({ name, source, after, hooks }: Mirror): AsyncGenerator<CheckResult> {
  yield* movingFindings(name, source, "after", after);
  if (hooks?.before) yield* movingFindings(name, source, "afterVeto", hooks.before.afterVeto);
}

/** The source was read already by a reader of its own, so it does not hang. */
async function* movingFindings(
  name: string,
  source: string,
  key: "after" | "afterVeto",
  after: Mirror["after"],
): AsyncGenerator<CheckResult> {
  if (after.kind === "keep") return;
  const what = `mirror ${name}: ${key} ${after.kind}`;
  const point = after.kind === "move" ? unmountedNow(after.to) : undefined;
  if (point !== undefined) {
    yield fail(
      `${what}: ${point} is not mounted`,
      "Mount it: until then, files stay in the source.",
    );
    return;
  }
  const places = after.kind === "move" ? [source, await nearestDirectory(after.to)] : [source];
  for (const place of places) {
    try {
      await access(place, constants.W_OK | constants.X_OK);
    } catch (error) {
      // The source's own examination reports that it is away, or not readable.
      if (codeOf(error) === "ENOENT") return;
      const { why, fix } = unwritable(error);
      yield fail(`${what}: ${place} ${why}`, `${fix}, or set \`${key}: keep\`.`);
      return;
    }
  }
  yield ok(`${what}: ${places.join(" and ")} ${places.length > 1 ? "are" : "is"} writable`);
}

/** Why `access` refused a place; no right helps where it is mounted read-only. */
function unwritable(error: unknown): { readonly why: string; readonly fix: string } {
  if (codeOf(error) === "EROFS")
    return { why: "is mounted read-only", fix: "Mount it for writing" };
  const fix = "Give the daemon's user the right to write there, or run check as that user";
  return { why: `is not writable (${codeOf(error)})`, fix };
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** The directory, or the nearest above it that is there. */
export async function nearestDirectory(directory: string): Promise<string> {
  const isHere = await isThere(directory);
  return isHere || directory === dirname(directory)
    ? directory
    : nearestDirectory(dirname(directory));
}

/** The daemon's web page: whether it can be served where it is to be, and to whom. */
type Web = NonNullable<Config["web"]>;

/** Is the port free? To be asked while no daemon runs. */
async function portFinding({ host, port }: Web): Promise<CheckResult> {
  const shown = shownOf({ host, port });
  const { promise, resolve } = Promise.withResolvers<CheckResult>();
  const server = createServer();
  server.on("error", (error) => {
    const why = codeOf(error) === "EADDRINUSE" ? "another program listens there" : codeOf(error);
    resolve(fail(`${shown} cannot listen (${why})`, "Set another web.listen, or web: off."));
  });
  server.listen(port, host, () => server.close(() => resolve(ok(`${shown} is free`))));
  return promise;
}

/** Beyond this host the page shows nothing to anyone who has no token, and none is configured. */
export async function* tokenFindings(
  config: Pick<Config, "journal" | "web">,
): AsyncGenerator<CheckResult> {
  const { web } = config;
  if (!web || web.token !== undefined) return;
  const kept = await tokenPlace(config);
  if (kept !== undefined) {
    const since = existsSync(kept)
      ? "it is in"
      : "the first start creates one, prints it once and writes it to";
    yield ok(`${shownOf(web)} asks for a token; ${since} ${kept}`);
    return;
  }
  // A name that does not resolve cannot be listened on, which is reported.
  const isLoopback = await addressOf(web).then(
    (address) => address.isLoopback,
    () => true,
  );
  if (isLoopback) return;
  const what = `${shownOf(web)} is open to the network and has no token: it answers only /healthz and /readyz`;
  yield warn(what, "Set web.tokenFile, or web.listen to 127.0.0.1.");
}

function shownOf({ host, port }: Web): string {
  return `page: ${host.includes(":") ? `[${host}]` : host}:${port}`;
}
