import type { Archive } from "../../src/archive/archive.ts";
import type { Document } from "../../src/domain/document.ts";
import { targetPathOf } from "../../src/domain/naming.ts";
import type { Config, Mirror } from "../../src/config/config.ts";
import { bindArchives } from "../../src/daemon/bind-archives.ts";
import { idle } from "../../src/daemon/idle.ts";
import type { Applied, Journal, MirrorRow } from "../../src/journal/journal.ts";
import { toldBy } from "../../src/journal/outbox-entry.ts";
import { QUERIES } from "../../src/journal/documents-table.ts";
import type { MirrorStatus } from "../../src/reader/protocol.ts";
import { documentOfCompanion } from "../../src/source/companions.ts";
import { eligibility } from "../../src/source/eligible.ts";
import { statusOf } from "../../src/report/status.ts";
import { Listeners, Wakeup } from "../../src/std/wakeup.ts";
import { silentLog } from "../../src/std/log.ts";
import { type RawPath, dirOf, joinRaw } from "../../src/std/raw-path.ts";
import type { LiveMirror, SyncContext } from "../../src/sync/context.ts";
import { FULL_OWNERSHIP } from "../../src/sync/ownership.ts";
import { Pace } from "../../src/sync/pace.ts";
import { throttledArchive } from "../../src/sync/wrapped-archive.ts";
import { Bandwidth } from "../../src/sync/bandwidth.ts";
import { Sync } from "../../src/sync/sync.ts";
import { ManualClock } from "../fakes/manual-clock.ts";
import { MemoryJournal } from "../fakes/memory-journal.ts";
import { MemoryStore } from "../fakes/memory-store.ts";
import { type Repertoire, someRepertoire } from "./actions.ts";
import { takerOf } from "./auditor.ts";
import { companionUseOf } from "./companions.ts";
import { Dice } from "./dice.ts";
import { Life } from "./life.ts";
import { liveMirror, type Place } from "./live-mirror.ts";
import { aSimulatedHook, isVetoed, type News, newsKey } from "./simulated-hook.ts";
import { mistold } from "./hook-audit.ts";
import { SimulatedArchive } from "./simulated-archive.ts";
import type { SimulatedReader, Source, UsedReader } from "./simulated-reader.ts";
import { digestOf, SimulatedTree } from "./simulated-tree.ts";
import type { StoredDocument } from "./stored-document.ts";
import { someConfig, someMirror } from "./some-settings.ts";
import { Trace, journaled } from "./trace.ts";

const SECOND = 1_000;
/** Long: a wake-up that is missed shall be seen, not slept over. */
const MAX_SLEEP_MS = 1_800 * SECOND;

/** The journal's, by their ids there. */
export const ARCHIVES = {
  1: { name: "main", url: "https://archive.example" },
  2: { name: "second", url: "https://second.example" },
} as const;

/** How often `quota.retryAt` comes round, where it is set. */
const PROBE_EVERY_MS = 20 * SECOND;

/** How long ago at most the archive was asked when a file is moved or deleted. */
const ASKED_MS_MAX = 10 * SECOND;

/** Longer than any request takes, and any answer of the archive is behind. */
const TAKEN_BACK_MS = 120 * SECOND;

/** More than the files of any source. */
const INODES = 1_000_000;

/** How long a stop waits for what is being sent. */
const SHUTDOWN_MS = 5 * SECOND;

/** Bugs put between the loops and the world; what they find of them is a test of the simulation. */
export type Sabotage = {
  readonly journal?: (journal: Journal, world: SimulatedWorld) => Journal;
  /** Not a bug: how long a lost document is looked for. */
  readonly doubt?: SyncContext["config"]["upload"]["doubt"];
  /** Requests get their end though the lease is over. */
  readonly unfenced?: true;
  /** What the loops take for the settings of a mirror. */
  readonly settings?: (settings: Mirror) => Mirror;
  readonly reader?: (reader: UsedReader, source: Source) => UsedReader;
  readonly archive?: (archive: Archive, world: SimulatedWorld) => Archive;
  /** What `adopt` looks through. */
  readonly adopts?: (archive: Archive) => Archive;
  /** What happens in every history, and often, as it takes that to be found. */
  readonly often?: readonly string[];
  /** A machine may be taken back to a snapshot, and nobody minds. */
  readonly unguarded?: true;
  /** Whether each history begins with a first run. */
  readonly firstRun?: boolean;
  /** What a user says of one content is taken for whatever the file has by then. */
  readonly wordForAny?: true;
};

function pathOf({ dir, name }: Document): RawPath {
  return joinRaw(dir, name);
}

/** One history of so many begins with a first run. */
const FIRST_RUN_EVERY = 5;

/** In one history of so many the journal drops rows that are done, as soon as this is over. */
const RETAINED_EVERY = 7;
const RETAIN_MS = [1, 60_000, 600_000];

/** What the worlds of one journal share; `snapshot` takes that back. */
type Host = { readonly worlds: SimulatedWorld[]; snapshot: (() => void) | undefined };

/** Everything outside the loops, and the loops in it. */
export class SimulatedWorld {
  readonly dice: Dice;
  readonly clock: ManualClock;
  readonly trace: Trace;
  readonly store: MemoryStore;
  /** Its archive's in the journal. */
  readonly archiveId: 1 | 2;
  /** What the host's clock said at the beginning. */
  readonly startedAt: number;
  readonly archive: SimulatedArchive;
  readonly places: readonly Place[];
  /** The archive may hold the mirrors' files already, and people have put others there. */
  readonly isFirstRun: boolean;
  /** Contents that a user asked to send although the archive may have them, by digest. */
  readonly asNew = new Set<string>();
  /** Contents that a user asked to send as they are, by digest. */
  readonly anyway = new Set<string>();
  /** What went wrong before the end, and what no loop may ever do. */
  readonly problems: string[] = [];
  /** The clock was set far while a file grew: only a daemon that goes on running can know. */
  isShaken = false;
  /** The clock was set: how old a sidecar is nobody knows. */
  wasClockSet = false;
  /** Documents that were sent by a state of the journal that was taken back since. */
  readonly lost = new Set<number>();
  /** The archive's ids of what became CONVERTED while its mirror kept its files; a journal taken back gives ids of rows again. */
  readonly kept = new Set<number>();
  /** Contents that went from one mirror to another. */
  readonly passes: { readonly content: string; readonly places: readonly Place[] }[] = [];
  /** What `after` hooks are to be told, as `newsKey` writes it, and of which mirror. */
  readonly news = new Map<string, number>();
  /** The worlds of the archives of one journal, which one process serves. */
  readonly host: Host;
  #own: { readonly of: readonly Document[]; readonly rows: readonly Document[] } | undefined;
  readonly config: SyncContext["config"];
  readonly #sabotage: Sabotage;
  /** `quota.retryAt` is set. */
  readonly #hasSchedule: boolean;
  #life: Life | undefined;
  /** Its last life ended in good order. */
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();
  #sync: Sync | undefined;
  #readers = new Map<number, SimulatedReader>();
  #batches = 0;
  /** Called whenever something changes. */
  readonly #changed = new Listeners();

  /** `first`: the world of another archive, whose journal and host this one shares. */
  constructor(seed: number, sabotage: Sabotage = {}, first?: SimulatedWorld) {
    this.dice = new Dice(seed);
    this.clock = first?.clock ?? new ManualClock();
    this.trace = first?.trace ?? new Trace(this.clock);
    this.store = first?.store ?? new MemoryStore();
    this.startedAt = this.clock.now();
    this.host = first?.host ?? { worlds: [], snapshot: undefined };
    this.host.worlds.push(this);
    this.archiveId = first ? 2 : 1;
    this.#sabotage = sabotage;
    this.archive = new SimulatedArchive(this.clock, this.dice, this.trace, () =>
      this.rows.flatMap(({ documentId }) => documentId ?? []),
    );
    this.#hasSchedule = this.dice.chance(0.3);
    this.isFirstRun = sabotage.firstRun ?? (seed % FIRST_RUN_EVERY === 0 && !sabotage.unguarded);
    const isHeld = this.dice.chance(0.5) && !sabotage.unguarded;
    const firstRun = isHeld || this.isFirstRun ? "hold" : "upload";
    const shared = this.dice.chance(0.5);
    this.places = Array.from({ length: this.dice.chance(0.3) ? 2 : 1 }, (_, index) =>
      this.#place(
        (first?.places.length ?? 0) + index + 1,
        shared || index === 0 ? "/Scans" : "/Other",
        firstRun,
      ),
    );
    // What others put there is no lost journal.
    if (!this.isFirstRun) this.#endFirstRuns();
    const config = someConfig(this.dice);
    const retainMs = RETAIN_MS[seed % RETAIN_MS.length] ?? 1;
    const retention =
      seed % RETAINED_EVERY === 3 ? { retainMs, rememberMs: this.startedAt } : undefined;
    const doubt = sabotage.doubt ?? config.upload.doubt;
    this.config = { ...config, retention, upload: { ...config.upload, doubt } };
  }

  #endFirstRuns(): void {
    const { statements } = this.store.tables;
    for (const { settings } of this.places)
      statements.run(QUERIES.makeMirror, [settings.name, settings.source, this.archiveId]);
    for (const id of this.mirrorIds) statements.run(QUERIES.endFirstRun, [id, 0]);
  }

  /** The rows of all lives. */
  get rows(): readonly Document[] {
    const { rows } = this.store;
    if (this.#own?.of === rows) return this.#own.rows;
    const ids = this.mirrorIds;
    this.#own = { of: rows, rows: rows.filter(({ mirrorId }) => ids.has(mirrorId)) };
    return this.#own.rows;
  }

  /** What is left of the rows that retention dropped: the archive's ids, with the digests that are still known. */
  get tombstones(): ReadonlyMap<number, string | null> {
    const sql =
      "SELECT document_id AS id, hex(digest) AS digest FROM tombstones WHERE archive_id = $1";
    type Row = { readonly id: number; readonly digest: string };
    const all = this.store.tables.statements.rows<Row>(sql, [this.archiveId]);
    return new Map(all.map(({ id, digest }) => [id, digest.toLowerCase() || null]));
  }

  /** All mirrors that its archive ever had. */
  get mirrorIds(): ReadonlySet<number> {
    const all = this.store.tables.statements.rows<MirrorRow>(QUERIES.mirrors, []);
    return new Set(all.filter(({ archiveId }) => archiveId === this.archiveId).map(({ id }) => id));
  }

  get sync(): Sync | undefined {
    return this.#life?.isOver === false ? this.#sync : undefined;
  }

  get life(): Life | undefined {
    return this.#life;
  }

  readerOf(mirrorId: number): SimulatedReader | undefined {
    return this.#readers.get(mirrorId);
  }

  placeOf(mirrorId: number): Place | undefined {
    return this.places.find((place) => place.mirrorId === mirrorId);
  }

  /** Starts the daemon, over whatever an earlier life left; one that is not `sending` sends nothing. */
  start(sending = true): void {
    this.trace.add("daemon", "starts");
    if (this.#life && !this.#isStopped) this.store.markUnclean();
    this.#isStopped = false;
    const life = new Life(this.clock, this.dice, () => {
      this.trace.add("daemon", "killed");
      for (const { life: other } of this.host.worlds) other?.crash();
    });
    this.#life = life;
    this.#sync = undefined;
    this.#readers = new Map();
    this.#running = this.#live(life, sending).catch((error: unknown) => {
      if (life.isBroken) life.crash();
      if (!life.isOver && !life.stopping.aborted) this.broke(error);
    });
  }

  /** Starts it again if it was killed. */
  async restartIfDead(): Promise<void> {
    const { worlds } = this.host;
    if (worlds.every(({ life }) => life?.isOver === false)) return;
    await this.clock.advance(this.dice.int(0, 5_000));
    for (const world of worlds) world.start();
  }

  /** SIGTERM: what is being sent is finished in time, or cut. */
  async stop(): Promise<void> {
    const stops = this.host.worlds.flatMap((world) => world.#stopping() ?? []);
    const isLeft = () => stops.some(({ isDone }) => !isDone);
    for (let waited = 0; isLeft() && waited < 60; waited++) await this.clock.advance(SECOND);
    for (const { isDone, world } of stops) {
      if (!isDone && !world.life?.isOver) world.problems.push("the daemon did not stop");
      world.#isStopped = isDone;
    }
    for (const { world } of stops) world.life?.crash();
  }

  #stopping(): { isDone: boolean; readonly world: SimulatedWorld } | undefined {
    const life = this.#life;
    const sync = this.sync;
    if (!life || !sync) return undefined;
    this.trace.add("daemon", "is asked to stop");
    const stop = { isDone: false, world: this };
    this.#track(
      this.#stopped(life, sync).then(() => {
        stop.isDone = true;
      }),
    );
    return stop;
  }

  /** What a machine is taken back to: the journal, and not what it reads or sends to. */
  takeSnapshot(): void {
    // Where whatever is there is sent again, it is not guarded.
    const isGuarded = this.#hostPlaces.every(({ settings }) => settings.firstRun === "hold");
    if (isGuarded || this.#sabotage.unguarded) this.host.snapshot = this.store.snapshot();
  }

  /** A document that was sent since, and has another name by now, is not recognised. */
  forgetSnapshot(): void {
    this.host.snapshot = undefined;
  }

  /** The machine is taken back to its snapshot, once nothing is under way any more. */
  async goBack(): Promise<void> {
    const { snapshot, worlds } = this.host;
    if (!snapshot) return;
    this.life?.crash();
    await this.clock.advance(TAKEN_BACK_MS);
    snapshot();
    this.forgetSnapshot();
    for (const world of worlds) world.#isBack();
    for (const world of worlds) world.start();
  }

  /** Its journal is as it was earlier. */
  #isBack(): void {
    this.#isStopped = false;
    const owned = new Set(this.rows.map(({ documentId }) => documentId));
    for (const { id, foreign } of this.archive.stored)
      if (!foreign && !owned.has(id)) this.lost.add(id);
    // What becomes CONVERTED once more is as `after` says by then.
    const isConverted = ({ state }: Document) => state === "converted";
    const converted = new Set(this.rows.filter(isConverted).map(({ documentId }) => documentId));
    for (const id of this.kept) if (!converted.has(id)) this.kept.delete(id);
    // Rows have other ids from here on.
    this.news.clear();
    for (const { source } of this.places) source.hook.got.clear();
  }

  /** Every mirror is in the configuration again. */
  configureAll(): Promise<void> {
    return this.reconfigure(() => {
      for (const place of this.places) place.isOut = false;
    });
  }

  /** Resolves once nothing continues automatically in a pass in which nothing is sent; rejects as a command does. */
  async idle(signal: AbortSignal): Promise<void> {
    const { clock } = this;
    // It has to come up first.
    while (!this.sync) await clock.sleep(100, signal);
    const { sync } = this;
    const journal = new MemoryJournal({ store: this.store }).of(this.archiveId);
    const mirrors = this.places.flatMap(({ isOut, settings }) => (isOut ? [] : [settings]));
    const archive = { ...this.config.archive, ...ARCHIVES[this.archiveId] };
    const config = { ...(this.config as Config), mirrors, archive };
    const watched = {
      journal,
      scanSchedulers: [...sync.scanSchedulers.values()],
      sending: false,
      outage: () => sync.outage,
      askConverted: () => sync.askConverted(),
      identity: () => "same" as const,
      changed: this.#changed,
      clock,
      status: () => statusOf(journal, config, true, clock.now()),
    };
    await idle(watched, { waitConverted: false }, signal);
  }

  /** Something that happens on its own after a while. */
  later(ms: number, happen: () => void | Promise<void>): void {
    this.#track(this.clock.pass(ms).then(happen));
  }

  /** Its reader looks at a source every few seconds, and says whether it is there. */
  tell({ mirrorId }: Place): void {
    this.later(this.dice.int(0, 5_000), async () => {
      const reader = this.readerOf(mirrorId);
      if (reader?.pid !== undefined) await this.sync?.told(reader.status);
    });
  }

  /** Another process writes to the journal: `retry`, `pause`, `resume`. */
  async writeBeside(write: (journal: Journal) => Promise<void>): Promise<void> {
    await write(new MemoryJournal({ store: this.store }).of(this.archiveId));
    this.wroteOutside();
  }

  /** Something was journaled, or a source is there or away. */
  changed(): void {
    this.#changed.tell();
  }

  /** Something was written next to the loops. */
  wroteOutside(): void {
    for (const { life } of this.host.worlds) life?.wroteOutside();
  }

  get #hostPlaces(): Place[] {
    return this.host.worlds.flatMap(({ places }) => places);
  }

  /** How many pages may be used beyond the month's: by what several daemons claim at once. */
  get overdraftPages(): number {
    return 0;
  }

  /** A mirror of another name is another one: its place may be another host's. */
  get isShared(): boolean {
    return false;
  }

  /** What can happen in its history. */
  repertoire(): Repertoire {
    const { often = [] } = this.#sabotage;
    return someRepertoire(this.dice, this.isFirstRun ? [...often, "send as new", "adopt"] : often);
  }

  /** A user's word for one content is taken for whatever the file has by then. */
  get isWordForAny(): boolean {
    return this.#sabotage.wordForAny === true;
  }

  /** Ends all that goes on. */
  end(): void {
    this.life?.crash();
  }

  /** Every source is looked through. */
  rescan(): void {
    this.sync?.rescan("schedule");
  }

  /** Nothing ends the daemon any more. */
  spare(): void {
    this.#life?.lightFuse(Number.POSITIVE_INFINITY);
  }

  /** The archive folder of a path of a source. */
  targetOf({ settings }: Place, path: RawPath): string {
    return targetPathOf(settings.target, dirOf(path));
  }

  #place(mirrorId: number, path: string, firstRun: "hold" | "upload"): Place {
    const { dice } = this;
    const mode: Source["mode"] = dice.chance(0.6) ? "native" : "polling";
    const network = mode === "polling" && dice.chance(0.5);
    const archive = ARCHIVES[this.archiveId].name;
    const settings = { ...someMirror(dice, mirrorId, path, mode), archive, firstRun };
    const { sidecar, ready } = settings.rules;
    const companions = { sidecar, ready: ready.by };
    const rules = { ...settings, ...companions, without: [], device: null, network };
    const changes = (changed: RawPath) => {
      if (mode === "native") this.#event(place, changed);
    };
    const inodes = mirrorId * INODES;
    const tree = new SimulatedTree(this.clock, network, eligibility(rules), changes, inodes);
    const afterActions = (gone: RawPath, content: string) => {
      const isMoved = place.settings.hooks?.before?.afterVeto.kind === "move";
      if (isMoved && isVetoed(content)) return;
      this.#afterAction(gone, content);
      if (place.settings.after.kind === "keep")
        this.problems.push(`${gone}: touched, but not configured`);
      const row = this.rows.find(
        (each) => each.current && each.mirrorId === place.mirrorId && pathOf(each) === gone,
      );
      // A duplicate is archived in its own time, by what its mirror says then.
      // Of what came back after retention had dropped its row, only the content is known.
      const isRecalled = this.config.retention !== undefined && row?.attempts === 0;
      if (row?.duplicateOf === null && !isRecalled && this.kept.has(row.documentId ?? 0))
        this.problems.push(`${gone}: was to be kept when it was archived, and is moved or deleted`);
    };
    const sidecarGoes: Source["sidecarGoes"] = (path, content, title, action) => {
      this.trace.add("daemon", `puts away the sidecar of ${path}: ${title}`);
      const isThere = (each: StoredDocument) => each.content === content && each.title === title;
      if (action === "delete" && !this.archive.stored.some(isThere))
        this.problems.push(`${path}: its sidecar ${title} is gone, and the archive has none of it`);
    };
    const told = (news: News) => {
      this.trace.add("daemon", `tells ${newsKey(news)}`);
      this.problems.push(...mistold(this, news));
    };
    const hook = aSimulatedHook();
    const given = { tree, mode, settings, hook, told, afterActions, sidecarGoes };
    const source: Source = { ...given, online: true, ambush: undefined };
    const place: Place = {
      mirrorId,
      settings,
      isMoved: false,
      isOut: false,
      isCopied: false,
      formerTargets: [],
      rulesChanged: [],
      source: { ...source },
    };
    return place;
  }

  /** The configuration is changed: what is running ends, and begins again by it. */
  async reconfigure(change: () => void | Promise<void>): Promise<void> {
    this.forgetSnapshot();
    await this.stop();
    // One that has hardly begun has nothing to stop.
    this.life?.crash();
    await change();
    for (const world of this.host.worlds) world.start();
  }

  /** Most events come; some are lost, or come for the whole directory. */
  #event(place: Place, changed: RawPath): void {
    const { dice } = this;
    // What is next to a document is a hint for that one.
    const path = documentOfCompanion(changed, companionUseOf(place.settings)) ?? changed;
    if (dice.chance(0.15)) return;
    const whole = dice.chance(0.2);
    this.later(dice.int(0, 300), async () => {
      const reader = this.readerOf(place.mirrorId);
      const { life } = this;
      if (!life || life.isOver || !reader?.pid) return;
      await (whole ? reader.list(dirOf(path)) : reader.hint([path]));
    });
  }

  /** A local file goes: the archive must have it by now. */
  #afterAction(path: RawPath, content: string): void {
    this.trace.add("daemon", `puts away ${path} ${content}`);
    const now = this.clock.monotonic();
    const proven = this.archive.stored.some(
      (each) =>
        each.content === content &&
        each.convertedAt <= now &&
        // The archive was asked a moment ago; someone may have been quicker.
        (each.removedAt ?? now) > now - ASKED_MS_MAX,
    );
    const taken = () =>
      this.archive.stored.some((each) => takerOf(this, each)?.digest === digestOf(content));
    if (!proven && !taken())
      this.problems.push(`${path}: moved or deleted, but the archive does not have ${content}`);
  }

  async #live(life: Life, sending: boolean): Promise<void> {
    const whole = life.journal(this.store, (applied) => {
      for (const line of journaled(applied)) this.trace.add("journal", line);
      this.remember(applied);
      this.#sync?.journaled(applied);
    });
    const plain = whole.of(this.archiveId);
    const journal = this.#sabotage.journal?.(plain, this) ?? plain;
    const ready = Promise.withResolvers<Sync>();
    const mirrors = new Map<number, LiveMirror>();
    const configured = this.places.filter(({ isOut }) => !isOut);
    await this.#bind(journal, plain, configured);
    await this.keepNews();
    for (const place of configured) {
      const { reader, mirror } = await this.#mirror(place, life, journal, ready.promise);
      this.#readers.set(place.mirrorId, reader);
      mirrors.set(place.mirrorId, mirror);
    }
    const { clock } = this;
    const pace = await Pace.open({ journal, config: this.config, clock, log: silentLog });
    const context: SyncContext = {
      ownership: FULL_OWNERSHIP,
      config: this.config,
      journal,
      pace,
      bandwidth: new Bandwidth(undefined, clock),
      archive: throttledArchive(this.archiveOf(life), pace, this.clock),
      mirrors,
      configured: mirrors,
      wakeups: {
        sending: new Wakeup(),
        doubts: new Wakeup(),
        polling: new Wakeup(),
        held: new Wakeup(),
        after: new Wakeup(),
      },
      clock: this.clock,
      random: this.dice.random,
      log: silentLog,
      sending,
      redact: (text) => text,
      maxSleepMs: MAX_SLEEP_MS,
      newBatchId: () => `batch-${++this.#batches}`,
    };
    const sync = await Sync.open(
      context,
      (at) => (this.#hasSchedule ? Math.ceil((at + 1) / PROBE_EVERY_MS) * PROBE_EVERY_MS : null),
      () => this.changed(),
    );
    this.#sync = sync;
    ready.resolve(sync);
    const running = sync.run(life.stopping);
    for (const reader of this.#readers.values()) this.#track(reader.start());
    await running;
  }

  /** As `Daemon` does; a mirror of another name and source is another one. */
  async #bind(journal: Journal, plain: Journal, configured: readonly Place[]): Promise<void> {
    const archive = ARCHIVES[this.archiveId];
    const mirrors = configured.map(({ settings }) => settings);
    await bindArchives({ archive, mirrors } as unknown as Config, journal, silentLog);
    const bound = await plain.mirrors();
    for (const place of this.places) {
      const { name, source } = place.settings;
      // What was never in the configuration has no row, and another mirror gets the next id.
      place.mirrorId = bound.find((row) => row.name === name && row.source === source)?.id ?? 0;
    }
  }

  /** Outcomes of mirrors that have an `after` hook are kept for it; at once, as each world only knows of its own start. */
  keepNews(): Promise<void> {
    const journal = new MemoryJournal({ store: this.store });
    const told = this.#hostPlaces.filter(({ isOut, settings }) => !isOut && settings.hooks?.after);
    return journal.keepOutboxEntries(told.map(({ mirrorId }) => mirrorId));
  }

  /** What was archived while its files were to be kept, and what hooks are to be told. */
  remember(applied: readonly Applied[]): void {
    for (const { change, document, skipped } of applied) {
      if (skipped || !document || change.type !== "event") continue;
      const { id, mirrorId, documentId } = document;
      const place = this.placeOf(mirrorId);
      // Of a mirror that is out, what it says when it is back decides.
      if (!place || place.isOut) continue;
      const isKept = place.settings.after.kind === "keep";
      if (change.event.type === "converted" && isKept) this.kept.add(documentId ?? 0);
      const outcome = toldBy(change.event);
      if (outcome && place.settings.hooks?.after) this.news.set(newsKey({ outcome, id }), mirrorId);
    }
  }

  /** The archive as the loops of this life see it. */
  archiveOf(life: Life): Archive {
    const archive = life.archive(this.archive);
    return this.#sabotage.archive?.(archive, this) ?? archive;
  }

  /** The archive as `adopt` sees it. */
  get adoptedFrom(): Archive {
    return this.#sabotage.adopts?.(this.archive) ?? this.archive;
  }

  #mirror(place: Place, life: Life, journal: Journal, ready: Promise<Sync>) {
    const { dice, clock, archive } = this;
    const alone = { tidies: () => true, mayEnd: async () => true };
    const outside = {
      life,
      clock,
      dice,
      archive,
      journal,
      ...alone,
      sabotage: this.#sabotage.reader,
    };
    const started = (status: MirrorStatus, restart: boolean) => {
      this.#track(
        ready.then(async (sync) => {
          await sync.told(status);
          if (restart) sync.rescan("reader restarted", place.mirrorId);
        }),
      );
    };
    const settings = this.#sabotage.settings?.(place.settings) ?? place.settings;
    return liveMirror({ ...place, settings }, outside, ready, started);
  }

  async #stopped(life: Life, sync: Sync): Promise<void> {
    const over = new AbortController();
    const finished = new AbortController();
    const deadline = this.clock.sleep(SHUTDOWN_MS, finished.signal).then(
      () => over.abort(),
      () => {},
    );
    await sync.drain(over.signal);
    finished.abort();
    await deadline;
    life.stop();
    for (const reader of this.#readers.values()) reader.close();
    await this.#running;
  }

  /** What continues automatically; its failure is the history's, unless its life is over. */
  #track(promise: Promise<void>): void {
    const { life } = this;
    promise.catch((error: unknown) => {
      if (this.forgives(error)) return;
      // What the readers report is the first to meet a broken journal, where no loop writes.
      if (life?.isBroken) life.crash();
      if (life?.isOver || life?.stopping.aborted) return;
      if (error instanceof Error && error.name === "ChannelClosed") return;
      this.broke(error);
    });
  }

  /** Whether something may fail so that continues automatically. */
  forgives(_error: unknown): boolean {
    return false;
  }

  /** A failure that no loop may meet. */
  broke(error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.trace.add("daemon", `broke: ${error instanceof Error ? error.message : text}`);
    this.problems.push(`broke: ${text}`);
  }
}
