/**
 * What becomes of a file once it is archived and proven: it is deleted, or moved.
 *
 * The second of two keys is turned here: the content must still be what was sent. It is proven on
 * the file itself after it was put aside (see `quarantine.ts`), so that what is proven is what is
 * removed; a file that is something else by then gets its name back and stays. Whatever ends the
 * process in between, the content is somewhere, and `recoverQuarantine` puts it back.
 */
import { closeSync, fstatSync, lstatSync, unlinkSync } from "node:fs";
import { isAbortOf } from "../std/abort.ts";
import { type Random, systemRandom } from "../std/clock.ts";
import { Fault } from "../std/fault.ts";
import { dirOf, joinRaw, nameOf, type RawPath } from "../std/raw-path.ts";
import { entryOf, openDirectory, openRoot } from "./directory-fd.ts";
import {
  FileChanged,
  FileGone,
  FileUnreadable,
  fileFault,
  isSystemError,
  NotRegular,
  problemOf,
} from "./file-fault.ts";
import { moveFile, openMoveTarget, type Proven, syncQuietly } from "./move-file.ts";
import type { Entry } from "./new-name.ts";
import { openEntry } from "./open-inside.ts";
import { asideIn, originalName, putAside, putBack } from "./quarantine.ts";
import { digestOf } from "./read-file.ts";
import { seenOf } from "./seen.ts";
import type { Acted, SourceSettings } from "./source.ts";
import { sourceStatus } from "./source-status.ts";
import { walk } from "./walk.ts";

/** `to` is an absolute directory; the file keeps its relative path below it. */
export type AfterAction =
  | { readonly kind: "delete" }
  | { readonly kind: "move"; readonly to: string };

/** What `act` has put aside and not done with, by absolute path: nobody else gives it its name back. */
const inHand = new Set<string>();

/**
 * Deletes or moves a file whose content has this digest; refuses with `FILE_CHANGED` when it has
 * another. Codes of other refusals: `AFTER_REFUSED`, `FILE_UNREADABLE`, `SOURCE_OFFLINE`. After a
 * refusal the file is as it was.
 *
 * @param expected.digest SHA-256, hex
 * @throws only the signal's reason; the file is then as it was
 */
export async function act(
  settings: SourceSettings,
  path: RawPath,
  expected: { digest: string },
  action: AfterAction,
  signal: AbortSignal,
  random: Random = systemRandom,
): Promise<Acted> {
  signal.throwIfAborted();
  let root: number | undefined;
  let dir: number | undefined;
  try {
    root = openRoot(settings.source);
    dir = openDirectory(root, dirOf(path));
    const { source, network } = settings;
    const sent = { source, path, digest: expected.digest, network };
    const acted = await actIn(dir, sent, action, random, signal);
    syncQuietly(dir);
    return acted;
  } catch (error) {
    if (isAbortOf(signal, error)) throw error;
    return refusal(error, settings, path);
  } finally {
    if (dir !== undefined) closeSync(dir);
    if (root !== undefined) closeSync(root);
  }
}

/** The file that is to go, and how it is known. */
type Sent = {
  readonly source: string;
  readonly path: RawPath;
  readonly digest: string;
  readonly network: boolean;
};

async function actIn(
  dir: number,
  sent: Sent,
  action: AfterAction,
  random: Random,
  signal: AbortSignal,
): Promise<Acted> {
  const name = nameOf(sent.path);
  const look = () => lstatSync(entryOf(dir, name), { throwIfNoEntry: false });
  const stat = look() ?? (takeBack(dir, name) ? look() : undefined);
  if (!stat?.isFile()) throw new FileGone(sent.path);
  // A file that is put aside and given back its name is met as a changed one: not for a target that takes none.
  using target = action.kind === "move" ? openMoveTarget(action.to, sent.path, dir) : undefined;
  const entry = { dir, name: putAside(dir, name, random) };
  const held = placeOf(sent.source, dirOf(sent.path), entry.name);
  inHand.add(held);
  try {
    const proven = await prove(entry, sent, signal);
    if (target) return { kind: "done", to: await moveFile(proven, target, random, signal) };
    unlinkSync(entryOf(dir, entry.name));
    return { kind: "done" };
  } catch (error) {
    restore(entry, name);
    throw error;
  } finally {
    inHand.delete(held);
  }
}

function placeOf(source: string, dir: RawPath, name: RawPath): string {
  return `${source}/${joinRaw(dir, name)}`;
}

/** @throws `FileChanged`, or what stops the file from being read */
async function prove(entry: Entry, sent: Sent, signal: AbortSignal): Promise<Proven> {
  const { path, digest, network } = sent;
  const fd = openEntry(entry.dir, entry.name, path);
  try {
    const before = fstatSync(fd, { bigint: true });
    const read = await digestOf(fd, Number(before.size), signal);
    if (read.digest !== digest) throw new FileChanged(path, "has other content than was archived");
    const { stamp } = seenOf(before, network);
    const assertStill = () => {
      const now = lstatSync(entryOf(entry.dir, entry.name), LOOK);
      if (!now || seenOf(now, network).stamp !== stamp)
        throw new FileChanged(path, "was touched while it was proven");
    };
    assertStill();
    return { entry, path, digest, assertStill };
  } finally {
    closeSync(fd);
  }
}

const LOOK = { bigint: true, throwIfNoEntry: false } as const;

/** A share that went away while the file was put aside kept it there: it gets its name back. */
function takeBack(dir: number, name: RawPath): boolean {
  const aside = asideIn(dir).find((other) => originalName(other) === name);
  if (aside !== undefined) putBack(dir, aside, name);
  return aside !== undefined;
}

/** The first error says what went wrong; a file that cannot be put back now is when it is looked for. */
function restore({ dir, name: aside }: Entry, name: RawPath): void {
  try {
    if (lstatSync(entryOf(dir, aside), { throwIfNoEntry: false })) putBack(dir, aside, name);
  } catch (error) {
    if (!isSystemError(error) && !(error instanceof Fault)) throw error;
  }
}

function refusal(error: unknown, settings: SourceSettings, path: RawPath): Acted {
  const fault = fileFault(error, path);
  if (fault instanceof FileGone || fault instanceof NotRegular) {
    const status = sourceStatus(settings);
    if (status.kind === "online") return { kind: "gone" };
    return { kind: "refused", problem: { code: "SOURCE_OFFLINE", message: status.why } };
  }
  // A bare system error comes from giving the file another name, not from reading it.
  if (fault instanceof FileUnreadable && fault !== error)
    return { kind: "refused", problem: { code: "AFTER_REFUSED", message: fault.message } };
  return { kind: "refused", problem: problemOf(fault) };
}

/**
 * Gives files that an interrupted `act` had put aside their names back; a numbered one where the
 * name was taken meanwhile. Returns the paths they have now. To be called before the source is scanned,
 * whenever it has come: what had it go may have ended an `act`, and may not.
 *
 * @throws only the signal's reason
 */
export async function recoverQuarantine(
  settings: SourceSettings,
  signal: AbortSignal = new AbortController().signal,
): Promise<RawPath[]> {
  const recovered: RawPath[] = [];
  for await (const { dir, others } of walk(settings, signal)) {
    const aside = others.filter(
      (name) =>
        originalName(name) !== undefined && !inHand.has(placeOf(settings.source, dir, name)),
    );
    if (aside.length > 0) recovered.push(...recoverIn(settings.source, dir, aside));
  }
  return recovered;
}

function recoverIn(source: string, dir: RawPath, names: readonly RawPath[]): RawPath[] {
  let root: number | undefined;
  let fd: number | undefined;
  const recovered: RawPath[] = [];
  try {
    root = openRoot(source);
    fd = openDirectory(root, dir);
    for (const aside of names) {
      const original = originalName(aside);
      if (original !== undefined) recovered.push(joinRaw(dir, putBack(fd, aside, original)));
    }
  } catch (error) {
    // Cannot be written to, or is gone: tried again at the next start, and nothing is lost by it.
    if (!isSystemError(error) && !(error instanceof Fault)) throw error;
  } finally {
    if (fd !== undefined) closeSync(fd);
    if (root !== undefined) closeSync(root);
  }
  return recovered;
}
