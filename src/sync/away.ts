/**
 * What cannot be reached just now: an archive, the sources of its mirrors, or directories in them. Only the
 * daemon that tries knows; it keeps that in the journal, for those who ask where things stand from outside.
 */
import type { Trouble } from "../domain/document.ts";
import { awayMemo, type Member, SOLO_CREW } from "../journal/crew.ts";
import type { Journal } from "../journal/journal.ts";
import type { SyncContext } from "./context.ts";
import type { Links } from "./links.ts";
import type { Outage } from "./outage.ts";
import type { Survey, SurveyState, Unread } from "./survey.ts";

/** A source that is offline; `since` is epoch ms. */
export type SourceAway = { readonly since: number; readonly why: string };

/** An archive that does not answer; times are epoch ms. */
export type ArchiveAway = Trouble & { readonly since: number; readonly nextAttemptAt: number };

/** All of one archive, as one daemon sees it. */
export type Away = {
  readonly archive: ArchiveAway | null;
  /** By the name of the mirror. */
  readonly sources: Readonly<Record<string, SourceAway>>;
  /** By the name of the mirror: what of its source cannot be read. */
  readonly unread: Readonly<Record<string, Unread>>;
  /** By the name of the mirror. */
  readonly links: Readonly<Record<string, Links>>;
};

/** What is kept of a mirror, whatever it is called: every object has a `constructor`. */
export function ofMirror<T>(all: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(all, name) ? all[name] : undefined;
}

/** What a journal's only owner goes by. */
const SOLO_NAME = "";

const NOTHING: Away = { archive: null, sources: {}, unread: {}, links: {} };

type Context = Pick<SyncContext, "journal" | "clock">;

/** An archive and its sources as they are seen at one moment. */
export type Seen = {
  readonly outage: Outage | undefined;
  readonly surveys: Iterable<Pick<Survey, "mirror" | "isLed" | "state">>;
};

export class AwayNote {
  readonly #context: Context;
  readonly #memo: string;
  #written: string;
  #away: Away;
  /** Of the outage that is noted: until when the archive is left alone, monotonic ms. */
  #until: number | undefined;

  private constructor(context: Context, memo: string, written: string) {
    this.#context = context;
    this.#memo = memo;
    this.#written = written;
    this.#away = { ...(awayIn(written) ?? NOTHING), archive: null };
  }

  /** Takes up what the last run noted of sources; of the archive nothing is known at the start. */
  static async open(context: Context): Promise<AwayNote> {
    const { journal } = context;
    const { memberId } = journal.crew;
    const own = (await journal.crew.members()).find(({ id }) => id === memberId);
    const memo = awayMemo(journal.archiveId, own?.name ?? SOLO_NAME);
    return new AwayNote(context, memo, (await journal.memo(memo)) ?? "");
  }

  /** Keeps what is seen; resolves once that is durable, with whether it differs from what was kept. */
  async look(seen: Seen): Promise<boolean> {
    const { journal } = this.#context;
    const away = {
      archive: this.#archive(seen),
      sources: this.#sources(seen),
      unread: this.#ofScans(seen, this.#away.unread, ({ unread }) => unread),
      links: this.#ofScans(seen, this.#away.links, ({ links }) => links),
    };
    this.#away = away;
    const some = { ...away.sources, ...away.unread, ...away.links };
    const isNothing = away.archive === null && Object.keys(some).length === 0;
    const text = isNothing ? "" : JSON.stringify({ member: journal.crew.memberId, ...away });
    if (text === this.#written) return false;
    this.#written = text;
    await journal.setMemo(this.#memo, text);
    return true;
  }

  #archive({ outage }: Seen): ArchiveAway | null {
    const before = this.#away.archive;
    const isSame = outage !== undefined && outage.until === this.#until;
    this.#until = outage?.until;
    if (!outage) return null;
    if (before && isSame) return before;
    const now = this.#context.clock.now();
    // The monotonic clock counts in fractions, which no time that is told has.
    const waitMs = Math.ceil(Math.max(0, outage.until - this.#context.clock.monotonic()));
    return { ...outage.trouble, since: before?.since ?? now, nextAttemptAt: now + waitMs };
  }

  /** A source that was not looked for yet is as it was when this was last known. */
  #sources({ surveys }: Seen): Record<string, SourceAway> {
    const away: Record<string, SourceAway> = {};
    for (const { mirror, isLed, state } of surveys) {
      if (!isLed || state.status?.online === true) continue;
      const { name } = mirror.row;
      const before = ofMirror(this.#away.sources, name);
      const why = state.status?.why ?? before?.why;
      if (why !== undefined)
        away[name] = { since: before?.since ?? this.#context.clock.now(), why };
    }
    return away;
  }

  /** The same for what a scan tells of one that was not scanned yet. */
  #ofScans<T>(
    { surveys }: Seen,
    before: Readonly<Record<string, T>>,
    found: (state: SurveyState) => T | null,
  ): Record<string, T> {
    const all: Record<string, T> = {};
    for (const { mirror, isLed, state } of surveys) {
      const { name } = mirror.row;
      const now = state.scans === 0 ? ofMirror(before, name) : found(state);
      if (isLed && now) all[name] = now;
    }
    return all;
  }
}

/** What makes a note a daemon's of now: its number, and its name. */
type Seer = Pick<Member, "id" | "name">;

/**
 * Who would know what is away. Where the journal has one owner there are no members, and what it noted last
 * may be long over.
 */
export function seersOf(members: readonly Member[], isRunning: boolean): readonly Seer[] {
  if (members.length > 0) return members;
  return isRunning ? [{ id: SOLO_CREW.memberId, name: SOLO_NAME }] : [];
}

/** What these daemons cannot reach of the journal's archive; of several that cannot, the first. */
export async function awayOf(journal: Journal, seers: readonly Seer[]): Promise<Away> {
  let all = NOTHING;
  for (const { id, name } of seers) {
    const away = awayIn(await journal.memo(awayMemo(journal.archiveId, name)));
    if (away?.member !== id) continue;
    all = {
      archive: all.archive ?? away.archive,
      sources: { ...away.sources, ...all.sources },
      unread: { ...away.unread, ...all.unread },
      links: { ...away.links, ...all.links },
    };
  }
  return all;
}

function awayIn(text: string | null): (Away & { readonly member: number }) | undefined {
  // Written by `look` alone, in the journal of this very program, or of one before it that kept less.
  return text
    ? { ...NOTHING, ...(JSON.parse(text) as Away & { readonly member: number }) }
    : undefined;
}
