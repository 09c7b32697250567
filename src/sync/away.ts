/**
 * What cannot be reached or watched just now: an archive, the sources of its mirrors, or directories in them. Only the
 * daemon that tries knows; it keeps that in the journal, for those who ask where things stand from outside.
 */
import type { Problem } from "../domain/document.ts";
import { awayKey, type Instance, SOLO_CLUSTER } from "../journal/cluster.ts";
import type { ArchiveState, Sharing } from "../journal/journal.ts";
import type { SyncContext } from "./context.ts";
import type { Links, ScanScheduler, ScanSchedulerState, Unread } from "./scan-scheduler.ts";
import type { Outage } from "./outage.ts";

/** A source that is offline; `since` is epoch ms. */
export type SourceAway = { readonly since: number; readonly why: string };

/** An archive that does not answer; times are epoch ms. */
export type ArchiveAway = Problem & { readonly since: number; readonly nextAttemptAt: number };

/** What one daemon sees of a mirror's source; each null where there is nothing of it. */
export type SourceNote = {
  /** It cannot be looked at. */
  readonly offline: SourceAway | null;
  /** What of it cannot be read. */
  readonly unread: Unread | null;
  /** Its links, which are never followed. */
  readonly links: Links | null;
  /** Why some of its directories are not watched. */
  readonly unwatched: string | null;
};

/** All of one archive, as one daemon sees it. */
export type Away = {
  readonly archive: ArchiveAway | null;
  /** By the name of the mirror. */
  readonly sources: Readonly<Record<string, SourceNote>>;
};

/** Of a mirror of which nothing is noted. */
export const NO_NOTE: SourceNote = { offline: null, unread: null, links: null, unwatched: null };

/** What is kept of a mirror, whatever it is called: every object has a `constructor`. */
export function noteOf({ sources }: Pick<Away, "sources">, mirror: string): SourceNote {
  return { ...NO_NOTE, ...(Object.hasOwn(sources, mirror) ? sources[mirror] : undefined) };
}

/** What a journal's only owner goes by. */
const SOLO_NAME = "";

const NOTHING: Away = { archive: null, sources: {} };

type Context = Pick<SyncContext<ArchiveState & Sharing>, "journal" | "clock">;

/** An archive and its sources as they are seen at one moment. */
export type ArchiveView = {
  readonly outage: Outage | undefined;
  readonly scanSchedulers: Iterable<Pick<ScanScheduler, "mirror" | "isLed" | "state">>;
};

export class AwayNote {
  readonly #context: Context;
  readonly #key: string;
  #written: string;
  #away: Away;
  /** Of the outage that is noted: until when the archive is left alone, monotonic ms. */
  #until: number | undefined;

  private constructor(context: Context, key: string, written: string) {
    this.#context = context;
    this.#key = key;
    this.#written = written;
    this.#away = { ...(awayIn(written) ?? NOTHING), archive: null };
  }

  /** Takes up what the last run noted of sources; of the archive nothing is known at the start. */
  static async open(context: Context): Promise<AwayNote> {
    const { journal } = context;
    const { instanceId } = journal.cluster;
    const own = (await journal.cluster.instances()).find(({ id }) => id === instanceId);
    const key = awayKey(journal.archiveId, own?.name ?? SOLO_NAME);
    return new AwayNote(context, key, (await journal.keyValue(key)) ?? "");
  }

  /** Keeps what is seen; resolves once that is durable, with whether it differs from what was kept. */
  async look(seen: ArchiveView): Promise<boolean> {
    const { journal } = this.#context;
    const away = { archive: this.#archive(seen), sources: this.#sources(seen) };
    this.#away = away;
    const isNothing = away.archive === null && Object.keys(away.sources).length === 0;
    const text = isNothing ? "" : JSON.stringify({ instance: journal.cluster.instanceId, ...away });
    if (text === this.#written) return false;
    this.#written = text;
    await journal.setKeyValue(this.#key, text);
    return true;
  }

  #archive({ outage }: ArchiveView): ArchiveAway | null {
    const before = this.#away.archive;
    const isSame = outage !== undefined && outage.until === this.#until;
    this.#until = outage?.until;
    if (!outage) return null;
    if (before && isSame) return before;
    const now = this.#context.clock.now();
    // The monotonic clock counts in fractions, which no time that is shown has.
    const waitMs = Math.ceil(Math.max(0, outage.until - this.#context.clock.monotonic()));
    return { ...outage.problem, since: before?.since ?? now, nextAttemptAt: now + waitMs };
  }

  /** A source that was not looked for, or not scanned yet, is as it was when this was last known. */
  #sources({ scanSchedulers }: ArchiveView): Record<string, SourceNote> {
    const sources: Record<string, SourceNote> = {};
    for (const { mirror, isLed, state } of scanSchedulers) {
      if (!isLed) continue;
      const { name } = mirror.row;
      const before = noteOf(this.#away, name);
      const { unread, links } = state.scans === 0 ? before : state;
      const { unwatched } = state.status ?? before;
      const note = { offline: this.#offline(state, before), unread, links, unwatched };
      if (Object.values(note).some((each) => each !== null)) sources[name] = note;
    }
    return sources;
  }

  #offline({ status }: ScanSchedulerState, { offline }: SourceNote): SourceAway | null {
    if (status === undefined) return offline;
    if (status.online) return null;
    return { since: offline?.since ?? this.#context.clock.now(), why: status.why };
  }
}

/** What makes a note a daemon's of now: its number, and its name. */
type Observer = Pick<Instance, "id" | "name">;

/**
 * Who would know what is away. Where the journal has one owner there are no instances, and what it noted last
 * may be long over.
 */
export function observersOf(
  instances: readonly Instance[],
  isRunning: boolean,
): readonly Observer[] {
  if (instances.length > 0) return instances;
  return isRunning ? [{ id: SOLO_CLUSTER.instanceId, name: SOLO_NAME }] : [];
}

/** What these daemons cannot reach of the journal's archive; of several that cannot, the first. */
export async function awayOf(journal: ArchiveState, observers: readonly Observer[]): Promise<Away> {
  let all = NOTHING;
  for (const { id, name } of observers) {
    const away = awayIn(await journal.keyValue(awayKey(journal.archiveId, name)));
    if (away?.instance !== id) continue;
    all = {
      archive: all.archive ?? away.archive,
      sources: { ...away.sources, ...all.sources },
    };
  }
  return all;
}

function awayIn(text: string | null): (Away & { readonly instance: number }) | undefined {
  // Written by `look` alone, in the journal of this very program, or of one before it that kept less.
  return text
    ? { ...NOTHING, ...(JSON.parse(text) as Away & { readonly instance: number }) }
    : undefined;
}
