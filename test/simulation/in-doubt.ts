/** One document whose reply is lost, in every way that matters; what came of it. */
import { ArchiveError } from "../../src/archive/archive-error.ts";
import type { Document } from "../../src/domain/document.ts";
import { calm, rest } from "./history.ts";
import { SimulatedWorld } from "./simulated-world.ts";
import { isPlain } from "./some-settings.ts";
import { pathIn } from "./simulated-tree.ts";
import { CALM } from "./weather.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** How the client reports a reply that was lost there (`test/unit/archive/failures.test.ts`). */
export const LOST = {
  "before any byte left": () => new ArchiveError("notSent", "ARCHIVE_UNREACHABLE", "refused"),
  "mid request": () => new ArchiveError("inDoubt", "CONNECTION_LOST", "while it was being sent"),
  "after the request": () => new ArchiveError("inDoubt", "CONNECTION_LOST", "before a reply came"),
  "mid reply": () => new ArchiveError("inDoubt", "CONNECTION_LOST", "before the reply was whole"),
  "garbage reply": () => new ArchiveError("inDoubt", "REPLY_UNREADABLE", "answered with something"),
} as const;

/** When it is in the store after all, milliseconds; null: never. */
export const STORED = [null, 0, SECOND, 10 * SECOND, MINUTE, 10 * MINUTE] as const;

export const LISTINGS = ["fresh", "stale", "second page", "shifting pages", "failing"] as const;

/** What else is there of its name. */
export const OTHERS = ["none", "one of another size", "two of its size", "one of ours"] as const;

export type Cell = {
  readonly lost: keyof typeof LOST;
  readonly stored: (typeof STORED)[number];
  readonly listing: (typeof LISTINGS)[number];
  readonly others: (typeof OTHERS)[number];
};

export type Finding = {
  /** Documents of the file that the archive has in the end. */
  readonly times: number;
  readonly row: Document | undefined;
  /** Documents that a person has to choose from. */
  readonly candidates: readonly number[];
};

const CONTENT = "content-ours";
const SIZE = 100;
const path = pathIn("", "1.pdf");

/** A seed of a world with one plain mirror. */
const SEED = aPlainSeed();

function aPlainSeed(): number {
  for (let seed = 1; ; seed++) {
    const { places } = new SimulatedWorld(seed);
    const [place] = places;
    const { after, exclude, missingFolder, changed } = place?.settings ?? {};
    if (!place || !isPlain(place.settings)) continue;
    const plain = after?.kind === "keep" && exclude?.length === 0 && changed === "upload";
    if (plain && missingFolder?.kind === "hold" && places.length === 1) return seed;
  }
}

/** Lives through one cell of the matrix. */
export async function doubted(cell: Cell): Promise<Finding> {
  // Longer than anything is late: how long one has to look no software can know.
  const world = new SimulatedWorld(SEED, {
    doubt: { windowMs: 15 * MINUTE, toleranceMs: MINUTE },
  });
  const { archive, clock } = world;
  const tree = world.places[0]?.source.tree;
  const folderId = archive.tree.add("/Scans");
  if (cell.others === "one of ours")
    tree?.write(path, { content: "content-first", sizeBytes: SIZE });
  world.start();
  await clock.advance(2 * MINUTE);
  lose(world, cell, folderId);
  tree?.write(path, { content: CONTENT, sizeBytes: SIZE });
  // Its event may be lost.
  world.rescan();
  await clock.advance(3 * MINUTE);
  archive.weather = CALM;
  await clock.advance(20 * MINUTE);
  if (cell.others === "none" || cell.others === "one of ours") {
    await calm(world);
    await rest(world);
  }
  const row = world.rows.find(({ current }) => current);
  world.life?.crash();
  const owned = new Set(world.rows.map(({ documentId }) => documentId));
  const candidates = archive.stored.filter((each) => each.filename === path && !owned.has(each.id));
  await clock.settle();
  world.store.release();
  return {
    times: archive.stored.filter(({ content }) => content === CONTENT).length,
    row,
    candidates: candidates.map(({ id }) => id),
  };
}

/** The first reply is lost, as the cell says, and from then on lists are as it says. */
function lose(world: SimulatedWorld, cell: Cell, folderId: number): void {
  const { archive } = world;
  const store = archive.store.bind(archive);
  const foreign = (filename: string, sizeBytes: number) =>
    archive.add({ folderId, filename, content: "someone's", sizeBytes }, { foreign: true });
  const lost: typeof store = async (upload) => {
    archive.store = store;
    if (cell.stored !== null) archive.add(upload, { foreign: false, lateMs: cell.stored });
    if (cell.others === "one of another size") foreign(path, SIZE + 1);
    if (cell.others === "two of its size") [1, 2].forEach(() => foreign(path, SIZE));
    problem(world, cell, foreign);
    throw LOST[cell.lost]();
  };
  archive.store = lost;
}

function problem(
  { archive }: SimulatedWorld,
  { listing }: Cell,
  foreign: (filename: string, sizeBytes: number) => void,
): void {
  const documents = archive.documents.bind(archive);
  archive.pageSize = 2;
  switch (listing) {
    case "fresh":
      archive.pageSize = 1_000;
      return;
    case "stale":
      archive.weather = { ...CALM, stale: 1, staleMs: 30 * SECOND };
      return;
    case "second page":
      for (let number = 0; number < 5; number++) foreign(`newer-${number}.pdf`, SIZE);
      return;
    case "shifting pages":
      archive.documents = (query, signal) => {
        foreign("newest.pdf", SIZE);
        return documents(query, signal);
      };
      return;
    case "failing":
      archive.weather = { ...CALM, unanswered: 1 };
  }
}
