/**
 * A desk for one loop at a time: the context that all loops share, with every outside a fake and
 * time moved by hand. Chance is its upper end, so that every wait is as long as it can be.
 */
import { onTestFinished } from "vitest";
import type { Assignment } from "../../../src/journal/cluster.ts";
import type { ArchiveAccount, Config, Mirror } from "../../../src/config/config.ts";
import type { Document } from "../../../src/domain/document.ts";
import type { MirrorStatus } from "../../../src/reader/protocol.ts";
import { Wakeup } from "../../../src/std/wakeup.ts";
import { rawOfText } from "../../../src/std/raw-path.ts";
import { redactor, silentLog } from "../../../src/std/log.ts";
import type { LiveMirror, SyncContext } from "../../../src/sync/context.ts";
import { Pace } from "../../../src/sync/pace.ts";
import { MAX_SLEEP_MS } from "../../../src/sync/loop.ts";
import { ownershipOf } from "../../../src/sync/ownership.ts";
import { AccountGate } from "../../../src/sync/account-gate.ts";
import { FakeReader } from "../../fakes/fake-reader.ts";
import { ManualClock } from "../../fakes/manual-clock.ts";
import { MemoryCluster } from "../../fakes/memory-cluster.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";
import { MemoryStore } from "../../fakes/memory-store.ts";
import { ScriptedArchive } from "../../fakes/scripted-archive.ts";
import { aConfig, aMirror } from "../../fixtures/a-config.ts";
import { aDocument } from "../../fixtures/a-document.ts";
import { Bandwidth } from "../../../src/sync/bandwidth.ts";
import { ACCOUNT, ofMirror } from "../../fixtures/assignments.ts";

export const never: AbortSignal = new AbortController().signal;

export const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;

/** The settings of a desk's loops. */
export const CONFIG = aConfig("upload: { doubt: { window: 10m } }");

const MIRROR = aMirror({ settleMs: 3 * SECOND, firstRun: "upload" });

/** The settings of an archive that changes documents on purpose. */
export const CHANGING_ARCHIVE: ArchiveAccount = { ...CONFIG.archive, storedSize: "any" };

/** What a reader says of a source that is there. */
export function online(set: Partial<MirrorStatus> = {}): MirrorStatus {
  const there = { online: true, why: "", device: "8:1/ef53/2", mode: "native" } as const;
  return { mirrorId: 1, ...there, unwatched: null, ...set };
}

type Deskful = {
  /** Another desk: this one is of another daemon on the same journal, clock and archive. */
  beside?: SyncDesk;
  archive?: ScriptedArchive;
  /** One of several on its journal; it takes all assignments that nobody has. */
  instance?: string;
  /** The assignments that it seeks; all without it. */
  seeks?: readonly Assignment[];
  /** The mirrors; their ids are 1, 2 … in this order. */
  mirrors?: readonly Partial<Mirror>[];
  config?: Partial<Pick<Config, keyof SyncContext["config"]>>;
};

export class SyncDesk {
  readonly clock: ManualClock;
  readonly journal: MemoryJournal;
  readonly archive: ScriptedArchive;
  readonly cluster: MemoryCluster | undefined;
  readonly readers: ReadonlyMap<number, FakeReader>;
  readonly context: SyncContext;
  /** What was logged at `warn` and above. */
  readonly warnings: string[] = [];
  readonly #stopping = new AbortController();
  #failure: unknown;

  private constructor(
    parts: { clock: ManualClock; journal: MemoryJournal; readers: Map<number, FakeReader> },
    context: Omit<SyncContext, "archive" | "log" | "journal" | "clock">,
    archive: ScriptedArchive,
    cluster: MemoryCluster | undefined,
  ) {
    this.archive = archive;
    this.cluster = cluster;
    this.clock = parts.clock;
    this.journal = parts.journal;
    this.readers = parts.readers;
    const warn = (_: object, message: string) => {
      this.warnings.push(message);
    };
    const log = { ...silentLog, warn, error: warn };
    this.context = { ...context, ...parts, archive: this.archive, log };
  }

  /** Opens a desk; everything that runs on it ends with the test. */
  static async open(deskful: Deskful = {}): Promise<SyncDesk> {
    const { mirrors = [{}], config = {}, instance, beside, seeks, archive } = deskful;
    const clock = beside?.clock ?? new ManualClock();
    const store = beside?.journal.store ?? new MemoryStore();
    const cluster =
      instance === undefined ? undefined : MemoryCluster.join(store, { name: instance, clock });
    cluster?.stayAlive();
    const wakeups = {
      sending: new Wakeup(),
      doubts: new Wakeup(),
      polling: new Wakeup(),
      held: new Wakeup(),
      after: new Wakeup(),
    };
    const live = new Map<number, LiveMirror>();
    const journal = new MemoryJournal({
      store,
      ...(cluster && { cluster }),
      onApplied: (applied) => {
        if (!applied.some(({ document, skipped }) => document && !skipped)) return;
        for (const wakeup of Object.values(wakeups)) wakeup.notify();
        for (const { settling } of live.values()) {
          settling.small.notify();
          settling.large.notify();
        }
      },
    });
    const readers = new Map<number, FakeReader>();
    for (const [index, set] of mirrors.entries()) {
      const settings = { ...MIRROR, name: index === 0 ? "scans" : `scans-${index + 1}`, ...set };
      const row = await journal.mirror(settings.name, settings.source);
      const reader = new FakeReader((index + 1) * 100_000);
      readers.set(row.id, reader);
      const settling = { small: new Wakeup(), large: new Wakeup() };
      live.set(row.id, { row, settings, reader: reader.asReader, settling });
    }
    let batches = 0;
    const mirrorAssignments = [...live.keys()].map((id) => ofMirror(id));
    await cluster?.seek(seeks ?? [ACCOUNT, ...mirrorAssignments]);
    const told = { ...CONFIG, ...config };
    const desk = new SyncDesk(
      { clock, journal, readers },
      {
        config: told,
        pace: await Pace.open({ journal, config: told, clock, log: silentLog }),
        bandwidth: new Bandwidth(undefined, clock),
        mirrors: live,
        configured: live,
        ownership: ownershipOf(journal.cluster, 1),
        wakeups,
        random: () => 1,
        sending: true,
        redact: redactor(["canary-hook-4711"]),
        maxSleepMs: MAX_SLEEP_MS,
        newBatchId: () => `batch-${++batches}`,
      },
      beside?.archive ?? archive ?? new ScriptedArchive(),
      cluster,
    );
    onTestFinished(() => desk.stop());
    return desk;
  }

  get reader(): FakeReader {
    return this.readerOf(1);
  }

  readerOf(mirrorId: number): FakeReader {
    const reader = this.readers.get(mirrorId);
    if (!reader) throw new Error(`no mirror ${mirrorId}`);
    return reader;
  }

  mirror(mirrorId = 1): LiveMirror {
    const mirror = this.context.mirrors.get(mirrorId);
    if (!mirror) throw new Error(`no mirror ${mirrorId}`);
    return mirror;
  }

  keeper(scheduledAfter: (at: number) => number | null = () => null): Promise<AccountGate> {
    return AccountGate.open(this.context, scheduledAfter);
  }

  /** Puts a row into the journal as if it had come that far on its own. Its id is the next one. */
  put(set: Partial<Document> & { path?: string } = {}): Document {
    const { store } = this.journal;
    const id = set.id ?? store.nextId;
    const { path = `2026/scan-${id}.pdf`, ...columns } = set;
    const slash = path.lastIndexOf("/");
    const now = this.clock.now();
    const document = aDocument({
      dir: rawOfText(path.slice(0, Math.max(0, slash))),
      name: rawOfText(path.slice(slash + 1)),
      sentName: path.slice(slash + 1),
      targetPath: "/Scans",
      firstSeenAt: now,
      changedAt: now,
      dueAt: now,
      sentAt: now,
      // No two are the same file.
      seen: { sizeBytes: 1_000, modifiedAt: 0, stamp: `of ${id}` },
      documentId: set.state === "uploaded" || set.state === "converted" ? 9_000 + id : null,
      ...columns,
      id,
    });
    store.put(document);
    return document;
  }

  /** A row that waits to be sent. */
  pending(set: Parameters<SyncDesk["put"]>[0] = {}): Document {
    return this.put({
      state: "pending",
      folderId: null,
      sentAt: null,
      attempts: 0,
      sentBytes: null,
      ...set,
    });
  }

  /** The row as it is now. */
  async row(id: number | { readonly id: number }): Promise<Document> {
    const document = await this.journal.document(typeof id === "number" ? id : id.id);
    if (!document) throw new Error("the row is gone");
    return document;
  }

  /** States of all rows, in the order of their ids. */
  states(): string[] {
    return this.journal.store.rows.map(({ state }) => state);
  }

  /** What the history says of a row, without the times. */
  async story(id: number | { readonly id: number }): Promise<string[]> {
    const rows = await this.journal.history(typeof id === "number" ? id : id.id);
    return rows.map(({ event, detail }) => (detail === null ? event : `${event}: ${detail}`));
  }

  /** Starts a loop and lets it go as far as it can without time. */
  async run(...loops: { run(stopping: AbortSignal): Promise<unknown> }[]): Promise<void> {
    for (const loop of loops) {
      loop.run(this.#stopping.signal).catch((error: unknown) => {
        if (!this.#stopping.signal.aborted) this.#failure ??= error;
      });
    }
    await this.advance(0);
  }

  /** Lets time pass; a loop that failed meanwhile fails the test. */
  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    if (this.#failure !== undefined) throw this.#failure;
  }

  stop(): void {
    this.#stopping.abort(new Error("the test is over"));
  }
}
