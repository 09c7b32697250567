import type { Config, Mirror } from "../../config/config.ts";
import { ChannelClosed } from "../../reader/rpc-channel.ts";
import { Wakeup } from "../../std/wakeup.ts";
import { codeOf, messageOf } from "../../std/fault.ts";
import { invariant } from "../../std/invariant.ts";
import { isDecidedOtherwise } from "../../sync/decided-again.ts";
import { linksIn } from "../../sync/links.ts";
import type { Clock, Random } from "../../std/clock.ts";
import { StatReader } from "../stat-reader.ts";
import { Planner } from "./planner.ts";
import type { Destinations, KnownArchive } from "./destinations.ts";
import { OtherMirrors } from "./other-mirrors.ts";
import type { MirrorPlan, PlanLine } from "./plan-line.ts";
import { NoDocuments } from "../no-documents.ts";

/** What a plan is made of, and where it goes line by line. */
export type Planning = {
  readonly config: Config;
  /** By the archive's name. */
  readonly known: ReadonlyMap<string, KnownArchive>;
  readonly destinations: ReadonlyMap<string, Destinations>;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** Told before the lines of a mirror. */
  readonly begin: (mirror: Mirror) => Promise<void>;
  readonly emit: (line: PlanLine) => Promise<void>;
};

/** Plans mirror after mirror; one whose source is offline does not stop the others. */
export async function planMirrors(planning: Planning): Promise<MirrorPlan[]> {
  const plans: MirrorPlan[] = [];
  for (const mirror of planning.config.mirrors) {
    await planning.begin(mirror);
    plans.push(await planMirror(planning, mirror));
  }
  return plans;
}

async function planMirror(planning: Planning, mirror: Mirror): Promise<MirrorPlan> {
  const { clock, random, signal } = planning;
  const { name, source } = mirror;
  const archive = planning.known.get(mirror.archive);
  const row = archive?.mirrors.get(name);
  // A number that no row has.
  const known = row ?? { id: 0, name, source, device: null, archiveId: 1 };
  let planner: Planner | undefined;
  const noDocuments = new NoDocuments();
  const destinations = planning.destinations.get(mirror.archive);
  invariant(destinations, `mirror ${name} has an archive`);
  const base = { name, source, archived: 0, unreadable: [], noDocuments: {}, links: null };
  try {
    await using statReader = await StatReader.open(mirror, known, {
      clock,
      random,
      listing: async (listing) => {
        for (const { name } of listing.files) noDocuments.add(name);
        await planner?.listing(listing);
      },
    });
    if (!statReader.status.online) return { ...base, offline: statReader.status.why };
    await using others = new OtherMirrors(planning.config.mirrors, archive, { clock, random });
    planner = new Planner({
      mirror: {
        row: known,
        settings: mirror,
        reader: statReader.reader,
        settling: { small: new Wakeup(), large: new Wakeup() },
      },
      journal: row && archive?.journal,
      others,
      destinations,
      isDecidedOtherwise:
        row !== undefined &&
        archive?.journal !== undefined &&
        (await isDecidedOtherwise(archive.journal, row.id, mirror)),
      isFirstRun: !(row && archive?.pastFirstRun.has(row.id)),
      clock,
      signal,
      emit: planning.emit,
    });
    const { unreadable, links: found } = await statReader.reader.scan(known.id, null);
    const links = await linksIn(row && archive?.journal, known.id, found);
    const { archived } = planner;
    return { ...base, offline: null, archived, unreadable, noDocuments: noDocuments.types, links };
  } catch (error) {
    const away = codeOf(error) === "SOURCE_OFFLINE" || error instanceof ChannelClosed;
    if (!away) throw error;
    return { ...base, offline: messageOf(error), archived: planner?.archived ?? 0 };
  }
}
