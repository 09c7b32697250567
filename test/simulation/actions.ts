/** What happens to a world between two steps of its clock. */
import type { Document } from "../../src/domain/document.ts";
import { LARGE_BYTES } from "../../src/domain/feed.ts";
import { UNFINISHED_CODES } from "../../src/domain/settle.ts";
import { documentOfCompanion } from "../../src/source/companions.ts";
import { type RawPath, dirOf, joinRaw, nameOf } from "../../src/std/raw-path.ts";
import { sendAsNew } from "../../src/sync/first-run-choice.ts";
import { probeNow, retryOf } from "../../src/sync/retry.ts";
import { adopt } from "./adopt-action.ts";
import {
  changeAfter,
  changeRules,
  correctTarget,
  moveMirror,
  renameMirror,
  takeOutMirror,
} from "./config-actions.ts";
import { changeCompanion, dress } from "./companion-actions.ts";
import { setClock, someGrow } from "./clock-actions.ts";
import type { Dice } from "./dice.ts";
import { POISON } from "./simulated-archive.ts";
import type { StoredDocument } from "./stored-document.ts";
import { type Bytes, digestOf, isLeft, pathIn, type SimulatedTree } from "./simulated-tree.ts";
import type { Place } from "./live-mirror.ts";
import type { SimulatedWorld } from "./simulated-world.ts";
import { someWeather } from "./weather.ts";

/** What can happen, and how often. */
export type Repertoire = readonly (readonly [weight: number, name: string, action: Action])[];

type Action = (world: SimulatedWorld, place: Place) => void | Promise<void>;

/** How much more often. */
const OFTEN = 8;

/** Longer ago than anything may be taken for what is sent now. */
const EARLIER_MS = 24 * 3_600_000;

/** How long after they were written files were sent before the first run. */
const SENT_MS = 5_000;

const DIRECTORIES = ["", "a", "b", "a/c"];
/** The archive finds more in one of them; one is left out by its name. */
const NAMES = ["1.pdf", "2.pdf", "3.pdf", "4.bin", "5.bin", "6.asice", "7.part"];

/** Does something, of all that can happen; says in the trace what. */
export async function act(world: SimulatedWorld, repertoire: Repertoire): Promise<void> {
  const place = world.dice.pick(world.places);
  if (!place) return;
  const [name, action] = world.dice.weighted(
    repertoire.map(([weight, name, action]) => [weight, [name, action] as const] as const),
  );
  world.trace.add("world", `${name} ${place.mirrorId}`);
  await action(world, place);
}

const ACTIONS: Repertoire = [
  [14, "write", write],
  [6, "write slowly", writeSlowly],
  [4, "edit", (world, place) => onFile(world, place, (path) => edit(world, place, path))],
  [2, "touch", (world, place) => onFile(world, place, (path) => place.source.tree.touch(path))],
  [3, "remove", (world, place) => onFile(world, place, (path) => place.source.tree.remove(path))],
  [4, "rename", (world, place) => onFile(world, place, (path) => rename(world, place, path))],
  [
    1,
    "rename and back",
    (world, place) => onFile(world, place, (path) => away(world, place, path)),
  ],
  [3, "companion", changeCompanion],
  [2, "left unfinished", leaveUnfinished],
  [1, "hook fails or works", toggleHook],
  [2, "copy", (world, place) => onFile(world, place, (path) => copy(world, place, path))],
  [
    2,
    "to another mirror",
    (world, place) => onFile(world, place, (path) => pass(world, place, path)),
  ],
  [1, "move directory", moveDirectory],
  [1, "remove directory", removeDirectory],
  [1, "unreadable", (world, place) => onFile(world, place, (path) => deny(world, place, path))],
  [1, "source offline or online", toggleSource],
  [1, "empty", (world, place) => place.source.tree.write(somewhere(world, place), EMPTY)],
  [2, "ambush", ambush],
  [1, "directory unreadable", denyDirectory],
  [5, "weather", changeWeather],
  [1, "folder", makeFolder],
  [1, "folder twin", onFolder((world, path) => world.archive.tree.twin(path))],
  [1, "folder respelt", onFolder((world, path) => world.archive.tree.respell(path))],
  [1, "folder removed", onFolder(removeFolder)],
  [1, "folder renamed", onFolder(renameFolder)],
  [1, "document removed", removeDocument],
  [1, "document filed elsewhere", fileDocument],
  [1, "document renamed", renameDocument],
  [2, "someone's document", addForeign],
  [2, "reader dies", (world, place) => world.later(0, () => world.readerOf(place.mirrorId)?.die())],
  [4, "crash", ending((world) => world.life?.lightFuse(world.dice.int(1, 60)))],
  [1, "stop", ending((world) => world.stop())],
  [
    1,
    "journal fails",
    ending((world) => world.life?.breakJournal(world.dice.chance(0.5) ? "lost" : "kept")),
  ],
  [1, "snapshot", (world) => world.takeSnapshot()],
  [1, "taken back to the snapshot", ending((world) => world.goBack())],
  [1, "target corrected", ending(correctTarget)],
  [1, "after changed", ending(changeAfter)],
  [1, "rules changed", ending(changeRules)],
  [1, "mirror renamed", ending(renameMirror)],
  [1, "mirror moved", ending(moveMirror)],
  [1, "mirror out or back", ending(takeOutMirror)],
  [1, "clock set", setClock],
  [1, "pause or resume", pauseOrResume],
  [1, "retry", retry],
  [1, "send as new", asNew],
  [1, "adopt", ending(adopt)],
  [2, "rescan", (world) => world.sync?.rescan("schedule")],
];

/**
 * What can happen in one history: some of all there is, each rarely or often, because what needs
 * many of one kind in a row is seldom met where everything happens.
 */
export function someRepertoire(dice: Dice, often: readonly string[] = []): Repertoire {
  const isOften = (name: string) => often.includes(name);
  const some = ACTIONS.filter(([, name]) => name === "write" || isOften(name) || dice.chance(0.6));
  return some.map(([weight, name, action]) => {
    return [weight * dice.int(1, 4) * (isOften(name) ? OFTEN : 1), name, action];
  });
}

const EMPTY: Bytes = { content: "", sizeBytes: 0 };

function bytes(world: SimulatedWorld): Bytes {
  const { dice } = world;
  const kind = dice.chance(0.03) ? POISON : "content";
  // Few sizes, so that size alone seldom tells two documents apart.
  const sizeBytes = dice.int(1, 3) * (dice.chance(0.1) ? 2 * LARGE_BYTES : 100);
  return { content: `${kind}-${dice.int(0, 1_000_000_000)}`, sizeBytes };
}

function write(world: SimulatedWorld, place: Place): void {
  const path = somewhere(world, place);
  const { tree } = place.source;
  const isRenamed = place.settings.rules.ready.by === "rename" && world.dice.chance(0.5);
  const written = isRenamed ? pathIn(dirOf(path), `${nameOf(path)}.part`) : path;
  tree.write(written, bytes(world));
  if (isRenamed)
    world.later(world.dice.int(0, 10_000), () => {
      if (tree.at(path)?.whole !== false) tree.move(written, path);
    });
  dress(world, place, path);
}

/** A scanner stops in the middle of a file, for good. */
function leaveUnfinished(world: SimulatedWorld, place: Place): void {
  const path = somewhere(world, place);
  place.source.tree.write(path, { ...bytes(world), content: `left-${world.dice.int(0, 1e9)}` });
  dress(world, place, path);
}

function toggleHook({ dice }: SimulatedWorld, { source: { hook } }: Place): void {
  hook.failing = hook.failing > 0 ? 0 : (dice.pick([0.3, 1]) ?? 1);
}

/** A path that nobody is writing to. */
function somewhere({ dice }: SimulatedWorld, { source }: Place): RawPath {
  const free = DIRECTORIES.flatMap((dir) => NAMES.map((name) => pathIn(dir, name))).filter(
    (path) => source.tree.at(path)?.whole !== false,
  );
  return dice.pick(free) ?? pathIn("", `${dice.int(6, 99)}.bin`);
}

function onFile({ dice }: SimulatedWorld, { source }: Place, use: (path: RawPath) => void): void {
  const path = dice.pick(source.tree.paths.filter((each) => isWritten(source.tree, each)));
  if (path !== undefined) use(path);
}

/** Nobody touches a file that is still being written, nor its marker, which would be its writer's word. */
export function isWritten(tree: Pick<SimulatedTree, "at">, path: RawPath): boolean {
  const document = documentOfCompanion(path, { sidecars: false, markers: true }) ?? path;
  return [path, document].every((each) => tree.at(each)?.whole !== false);
}

/** Other bytes, and sometimes the earlier ones again a moment later. */
function edit(world: SimulatedWorld, { source }: Place, path: RawPath): void {
  const was = source.tree.at(path);
  source.tree.write(path, bytes(world));
  const now = source.tree.at(path);
  if (!was || !world.dice.chance(0.3)) return;
  world.later(world.dice.int(0, 20_000), () => {
    if (source.tree.at(path) !== now || !isWritten(source.tree, path)) return;
    source.tree.write(path, { content: was.content, sizeBytes: was.seen.sizeBytes });
  });
}

function rename(world: SimulatedWorld, place: Place, path: RawPath): void {
  const to = somewhere(world, place);
  // A file keeps its kind, or its format would not say any more whether it is whole.
  if (to.slice(-4) === path.slice(-4)) place.source.tree.move(path, to);
}

/** Out of sight for a moment, as while a program replaces a file by way of another name. */
/** Where the journal drops rows, under a name that is left out, and for long enough. */
function away(world: SimulatedWorld, { source }: Place, path: RawPath): void {
  const isRetained = world.config.retention !== undefined;
  const to = pathIn(dirOf(path), isRetained ? `${nameOf(path)}.part` : `away-${nameOf(path)}`);
  source.tree.move(path, to);
  world.later(world.dice.int(0, isRetained ? 1_200_000 : 15_000), () => {
    if (!source.tree.at(path) && source.tree.at(to)?.whole) source.tree.move(to, path);
  });
}

function copy(world: SimulatedWorld, place: Place, path: RawPath): void {
  const file = place.source.tree.at(path);
  const target = world.dice.pick(world.places) ?? place;
  const to = somewhere(world, target);
  if (!file || (to === path && target === place)) return;
  if (target !== place) {
    if (place.isOut || target.isOut) return;
    place.isCopied = true;
    target.isCopied = true;
  }
  target.source.tree.write(to, { content: file.content, sizeBytes: file.seen.sizeBytes });
}

/** A file goes from one mirror's source to another's. */
function pass(world: SimulatedWorld, place: Place, path: RawPath): void {
  const other = world.dice.pick(world.places.filter((each) => each !== place));
  if (!other || place.isOut || other.isOut) return;
  // Waiting there for longer than its row is kept, it is sent again: docs/reliability.md.
  if (world.config.retention) return;
  const to = world.dice.chance(0.5) ? path : somewhere(world, other);
  if (to.slice(-4) !== path.slice(-4) || other.source.tree.at(to)?.whole === false) return;
  const content = place.source.tree.at(path)?.content ?? "";
  world.trace.add("world", `${path} goes to ${to} of ${other.mirrorId}`);
  place.isCopied = true;
  other.isCopied = true;
  place.source.tree.moveOut(path, other.source.tree, to);
  world.passes.push({ content, places: [place, other] });
}

/**
 * A file that grows. One whose format tells that it is unfinished, and that is held for it, may rest for longer than
 * `incomplete`; one whose format tells nothing never rests as long as `settle`, unless its marker, or its renaming, says
 * when it is done.
 */
function writeSlowly(world: SimulatedWorld, place: Place): void {
  const { dice } = world;
  const { tree } = place.source;
  const path = somewhere(world, place);
  const whole = bytes(world);
  const parts = dice.int(2, 4);
  const { rules, stillIncomplete } = place.settings;
  const isTold = path.endsWith(".pdf") && stillIncomplete === "hold";
  const restMs =
    isTold || rules.ready.by !== "quiet"
      ? (dice.pick([1_000, 10_000, 100_000, 1_000_000]) ?? 1_000)
      : 2_500;
  const part = (number: number) => {
    if (number > 1 && !tree.at(path)) return;
    if (number === parts) {
      tree.write(path, whole);
      dress(world, place, path);
      return;
    }
    const sizeBytes = Math.ceil((whole.sizeBytes * number) / parts);
    tree.write(path, { content: `${whole.content}~${number}`, sizeBytes }, false);
    world.later(dice.int(1, restMs), () => part(number + 1));
  };
  part(1);
}

function isBeingWritten({ source }: Place, dir: RawPath): boolean {
  return source.tree.paths.some(
    (path) => path.startsWith(`${dir}/`) && source.tree.at(path)?.whole === false,
  );
}

function moveDirectory(world: SimulatedWorld, place: Place): void {
  const { tree } = place.source;
  const from = world.dice.pick(tree.directories.filter((dir) => dir !== ""));
  if (from === undefined || isBeingWritten(place, from)) return;
  const to = pathIn("", world.dice.pick(["x", "y", "a", "b"]) ?? "x");
  if (from === to || to.startsWith(`${from}/`)) return;
  tree.moveDirectory(from, to);
}

function removeDirectory(world: SimulatedWorld, place: Place): void {
  const dir = world.dice.pick(place.source.tree.directories.filter((each) => each !== ""));
  if (dir !== undefined && !isBeingWritten(place, dir)) place.source.tree.removeDirectory(dir);
}

function deny(world: SimulatedWorld, { source }: Place, path: RawPath): void {
  source.tree.setUnreadable(path, true);
  if (!world.dice.chance(0.7)) return;
  world.later(world.dice.int(0, 60_000), () => {
    if (source.tree.at(path)?.unreadable) source.tree.setUnreadable(path, false);
  });
}

function toggleSource(world: SimulatedWorld, place: Place): void {
  const { source, mirrorId } = place;
  source.online = !source.online;
  world.trace.add("source", `${mirrorId} ${source.online ? "online" : "offline"}`);
  world.tell(place);
}

function changeWeather(world: SimulatedWorld): void {
  world.archive.weather = someWeather(world.dice);
  const { outage, quota, refusesCredentials } = world.archive.weather;
  world.trace.add("weather", JSON.stringify({ outage, quota, refusesCredentials }));
}

function makeFolder(world: SimulatedWorld, place: Place): void {
  const dir = world.dice.pick([...DIRECTORIES, "x", "y"]) ?? "";
  world.archive.tree.add(world.targetOf(place, pathIn(dir, "file")));
}

function removeDocument(world: SimulatedWorld): void {
  const document = world.dice.pick(world.archive.stored);
  if (!document || document.committedAt > world.clock.monotonic()) return;
  world.trace.add("archive", `someone removes ${document.id}`);
  world.archive.remove(({ id }) => id === document.id);
}

/** A person's own order, or back where it was sent. */
function fileDocument(world: SimulatedWorld, place: Place): void {
  const { dice, archive } = world;
  const document = dice.pick(standing(world));
  if (!document) return;
  const folder = dice.pick(["/Filed", "/Scans", world.targetOf(place, pathIn("b", "file"))]);
  const back = dice.chance(0.3) && archive.tree.get(document.sent.folderId) !== undefined;
  const folderId = back ? document.sent.folderId : archive.tree.add(folder ?? "/Filed");
  world.trace.add("archive", `someone files ${document.id} in ${folderId}`);
  archive.file(document.id, { folderId });
}

/** Of what is known to be sent: a document of another name is nobody's whose reply was lost. */
function renameDocument(world: SimulatedWorld): void {
  const known = new Set(world.rows.map(({ documentId }) => documentId));
  const document = world.dice.pick(standing(world).filter(({ id }) => known.has(id)));
  if (!document) return;
  world.forgetSnapshot();
  world.trace.add("archive", `someone renames ${document.id}`);
  world.archive.file(document.id, { filename: `paid ${document.filename}` });
}

/** What people see in the archive. */
function standing({ archive, clock }: SimulatedWorld): StoredDocument[] {
  return archive.stored.filter(
    ({ removed, committedAt }) => !removed && committedAt <= clock.monotonic(),
  );
}

/** Some make a new one under its name. */
function renameFolder(world: SimulatedWorld, path: string): void {
  world.archive.tree.rename(path, `old ${world.dice.int(0, 999)}`);
  if (world.dice.chance(0.7)) world.archive.tree.add(path);
}

function onFolder(use: (world: SimulatedWorld, path: string) => void): Action {
  return (world, place) => {
    const dir = world.dice.pick(DIRECTORIES.filter((each) => each !== "")) ?? "a";
    use(world, world.targetOf(place, pathIn(dir, "file")));
  };
}

function removeFolder(world: SimulatedWorld, path: string): void {
  const id = world.archive.tree.usable(path);
  if (id !== undefined) world.archive.removeFolder(id);
}

/** Of a name that a file here has, in its folder; today's never of a size that a file here has. */
function addForeign(world: SimulatedWorld, place: Place): void {
  onFile(world, place, (path) => foreign(world, place, path, 0));
}

/** What people put there long before the first run, some of it of names that files here will have. */
export function addEarlier(world: SimulatedWorld): void {
  for (const place of world.places)
    for (const dir of DIRECTORIES)
      for (const name of NAMES)
        if (world.dice.chance(0.4)) foreign(world, place, pathIn(dir, name), -EARLIER_MS);
}

/** Files that were sent long ago, by a journal that is lost. */
export function addSentBefore(world: SimulatedWorld): void {
  const { archive, dice } = world;
  if (!dice.chance(0.5)) return;
  for (const place of world.places.filter(({ settings }) => !settings.hooks?.before))
    for (const dir of DIRECTORIES) {
      const path = pathIn(dir, dice.pick(NAMES) ?? "1.pdf");
      const folderId = archive.tree.usable(world.targetOf(place, path));
      if (folderId === undefined || !place.source.tree.isEligible(path)) continue;
      const sent = bytes(world);
      place.source.tree.write(path, sent);
      dress(world, place, path);
      const upload = { folderId, filename: nameOf(path), ...sent };
      world.lost.add(archive.add(upload, { foreign: false, lateMs: SENT_MS }));
    }
}

function foreign(world: SimulatedWorld, place: Place, path: RawPath, lateMs: number): void {
  const { archive, dice } = world;
  const folderId = archive.tree.usable(world.targetOf(place, path));
  if (folderId === undefined) return;
  const content = `foreign-${dice.int(0, 1_000_000_000)}`;
  // One of a file's size would be taken for that one, unless it is older.
  const sizeBytes = dice.int(1, 3) * 100 + (lateMs < 0 && dice.chance(0.5) ? 0 : 50);
  archive.add({ folderId, filename: nameOf(path), content, sizeBytes }, { foreign: true, lateMs });
}

/** The next file that is read is written meanwhile, or goes. */
function ambush(world: SimulatedWorld, place: Place): void {
  place.source.ambush = (path) => {
    if (place.source.tree.at(path)?.whole !== true) return;
    world.trace.add("ambush", path);
    if (world.dice.chance(0.7)) edit(world, place, path);
    else place.source.tree.remove(path);
  };
}

function denyDirectory(world: SimulatedWorld, { source }: Place): void {
  const dir = world.dice.pick(source.tree.directories.filter((each) => each !== ""));
  if (dir === undefined) return;
  source.tree.deny(dir);
  if (world.dice.chance(0.7)) world.later(world.dice.int(0, 60_000), () => source.tree.allow(dir));
}

/** What ends the process, unless it alone knows something. */
function ending(end: Action): Action {
  return (world, place) => {
    world.isShaken &&= someGrow(world);
    if (!world.isShaken) return end(world, place);
  };
}

async function pauseOrResume(world: SimulatedWorld): Promise<void> {
  await world.writeBeside(async (journal) => journal.setPaused(!(await journal.paused())));
}

/** A user says that the archive does not have what it may have, and has looked: nothing of its content is there. */
function asNew(world: SimulatedWorld): void {
  const isThere = (digest: string | null) =>
    world.archive.stored.some(({ content }) => digestOf(content) === digest);
  const row = world.dice.pick(
    world.rows.filter(
      ({ state, problem, digest }) =>
        state === "held" && problem?.code === "FIRST_RUN" && !isThere(digest),
    ),
  );
  if (!row?.digest) return;
  const { id, digest } = row;
  world.trace.add("user", `has ${id} sent as new`);
  world.asNew.add(digest);
  // A user thinks about it, and the file may be another one meanwhile.
  world.later(world.dice.pick([0, 1_000, 60_000, 300_000]) ?? 0, () =>
    world.writeBeside(async (journal) => {
      // Sent meanwhile, by a journal that was taken back since.
      if (isThere(digest)) return;
      const now = world.isWordForAny ? (await journal.document(id))?.digest : digest;
      await sendAsNew(journal, [{ id, digest: now ?? digest }], world.clock.now());
    }),
  );
}

async function retry(world: SimulatedWorld): Promise<void> {
  const row = world.dice.pick(
    // One that may be filed elsewhere is sent again by a person's word, who has looked.
    world.rows.filter(
      (row) =>
        row.state === "failed" ||
        mayGoAnyway(world, row) !== undefined ||
        (row.state === "held" &&
          row.problem?.code !== "DOUBT_ELSEWHERE" &&
          !world.archive.stored.some(
            ({ filed, content }) => filed && digestOf(content) === row.digest,
          )),
    ),
  );
  if (!row) return;
  const anyway = mayGoAnyway(world, row);
  if (anyway !== undefined) world.anyway.add(anyway);
  await world.writeBeside(async (journal) => {
    await journal.apply(retryOf(row, world.clock.now(), anyway !== undefined));
    await probeNow(journal, world.clock.now());
  });
}

/** The digest of what a user sends as it is, who has seen that nobody writes to it any more. */
function mayGoAnyway(world: SimulatedWorld, { mirrorId, dir, name, problem, seen }: Document) {
  if (!UNFINISHED_CODES.includes(problem?.code ?? "")) return undefined;
  const path = joinRaw(dir, name);
  const file = world.placeOf(mirrorId)?.source.tree.at(path);
  const isSeen = file?.seen.stamp === seen.stamp && isLeft(path, file.content);
  return isSeen ? digestOf(file.content) : undefined;
}
