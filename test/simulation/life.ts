import { journalFault } from "../../src/journal/journal-fault.ts";
import type { Archive } from "../../src/archive/archive.ts";
import type { Document } from "../../src/domain/document.ts";
import type { Applied, Journal, ListQuery } from "../../src/journal/journal.ts";
import type { ManualClock } from "../fakes/manual-clock.ts";
import type { MemoryCluster } from "../fakes/memory-cluster.ts";
import { MemoryJournal } from "../fakes/memory-journal.ts";
import type { MemoryStore } from "../fakes/memory-store.ts";
import type { Dice } from "./dice.ts";

/** Waits without an end: what a life waits for that is over. */
const never = (): Promise<never> => new Promise(() => {});

/** Commits take up to this long. */
const COMMIT_MS_MAX = 4;

const WRITES: ReadonlySet<string> = new Set([
  "archive",
  "mirror",
  "renameMirror",
  "retireArchive",
  "setDevice",
  "endFirstRun",
  "apply",
  "setGate",
  "setPace",
  "tidy",
  "setPaused",
  "setKeyValue",
  "setContents",
  "endOutboxEntry",
  "putOffOutboxEntry",
  "pullInOutboxEntries",
] satisfies (keyof Journal)[]);

/**
 * One life of the daemon's process. Everything it does to the world goes through handles that die
 * with it: a call that is under way then is never answered, and may or may not have been done; a
 * call that is made later does nothing.
 */
export class Life {
  readonly #clock: ManualClock;
  readonly #dice: Dice;
  readonly #stopping = new AbortController();
  readonly #crashed: () => void;
  /** Called after every commit. */
  wrote: () => void = () => undefined;
  #isOver = false;
  /** Calls until it crashes, begin and end of each counted. */
  #fuse = Number.POSITIVE_INFINITY;
  #commits: Promise<unknown> = Promise.resolve();
  #committing = 0;
  /** What the disk does with the next commit: it is refused, and may be there all the same. */
  #refusal: "lost" | "kept" | undefined;
  #isBroken = false;
  #frozen: Promise<void> | undefined;
  #away: Promise<void> | undefined;
  #written = Promise.withResolvers<void>();

  constructor(clock: ManualClock, dice: Dice, crashed: () => void) {
    this.#clock = clock;
    this.#dice = dice;
    this.#crashed = crashed;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Its journal refuses everything: the process has to end. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Asks its loops to end. */
  stop(): void {
    this.#stopping.abort(new Error("the daemon stops"));
  }

  /** The process ends as by SIGKILL. */
  crash(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopping.abort(new Error("the process was killed"));
    this.#crashed();
  }

  /** It will crash at one of its next calls: before that is done, or before it is answered. */
  lightFuse(calls: number): void {
    this.#fuse = calls;
  }

  /** Nothing that was to end it does. */
  spare(): void {
    this.#fuse = Number.POSITIVE_INFINITY;
    this.#refusal = undefined;
  }

  /** The disk of its journal fails at the next commit. */
  breakJournal(refusal: "lost" | "kept"): void {
    this.#refusal = refusal;
  }

  /** Another process has written to the journal, or the clock was set. */
  wroteOutside(): void {
    this.#written.resolve();
    this.#written = Promise.withResolvers();
  }

  /** Nothing of the process runs for a while, and then it goes on as if nothing had happened. */
  async freeze(ms: number): Promise<void> {
    const thaw = Promise.withResolvers<void>();
    this.#frozen = thaw.promise;
    await this.#clock.pass(ms);
    this.#frozen = undefined;
    thaw.resolve();
  }

  /** The journal cannot be reached for a while: what is asked of it is answered later. */
  async cutOff(ms: number): Promise<void> {
    const back = Promise.withResolvers<void>();
    this.#away = back.promise;
    await this.#clock.pass(ms);
    this.#away = undefined;
    back.resolve();
  }

  /** Resolves while the process runs. */
  async running(): Promise<void> {
    while (this.#frozen) await this.#frozen;
    if (this.#isOver) await never();
  }

  /** Lets time pass, in this life. */
  async pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#clock.alarm(ms, () => {
        if (!this.#isOver) resolve();
      });
    });
    if (this.#frozen) await this.running();
  }

  /** One call to the world outside. */
  call<T>(effect: () => Promise<T>): Promise<T> {
    if (this.#frozen) return this.running().then(() => this.call(effect));
    if (this.#burns()) return never();
    return effect().then(
      async (answer) => {
        if (this.#frozen) await this.running();
        return this.#burns() ? never() : answer;
      },
      (error: unknown) => {
        if (this.#burns()) return never();
        throw error;
      },
    );
  }

  /** The archive, for as long as this life lasts. */
  archive(archive: Archive): Archive {
    return guarded(archive, (_, effect) => this.call(effect));
  }

  /** A journal on this store: commits take their time and keep their order, reads wait for them. */
  journal(
    store: MemoryStore,
    onApplied: (applied: readonly Applied[]) => void,
    cluster?: MemoryCluster,
  ): Journal {
    const inner = new MemoryJournal({
      store,
      ...(cluster && { cluster }),
      onApplied: (applied) => {
        if (!this.#isOver && !this.#isBroken) onApplied(applied);
      },
    });
    return this.#spoken(inner);
  }

  /** What speaks for an archive of a journal. */
  #spoken(inner: MemoryJournal): Journal {
    let told: number | undefined;
    const call = async (name: string, effect: () => Promise<unknown>): Promise<unknown> => {
      // Before it is done, or before it is answered.
      if (this.#away) await this.#away;
      if (name === "outsideWrites") {
        return this.call(async () => {
          if ((await inner.outsideWrites()) === told) await this.#nextOutsideWrite();
          told = await inner.outsideWrites();
          return told;
        });
      }
      if (this.#isBroken) {
        return Promise.reject(journalFault("JOURNAL_BROKEN", "in memory", "the disk failed"));
      }
      if (!WRITES.has(name)) {
        return this.#committing > 0
          ? this.#commits.then(() => this.call(effect))
          : this.call(effect);
      }
      const commit = this.#commit(this.#commits, effect);
      this.#commits = commit.catch(() => {}).then(this.wrote);
      return commit;
    };
    return Object.assign(guarded<Journal>(inner, call), {
      archiveId: inner.archiveId,
      cluster: inner.cluster,
      of: (archiveId: number) => this.#spoken(inner.of(archiveId)),
      list: (query: ListQuery) =>
        listed(() => call("list", () => Array.fromAsync(inner.list(query)))),
    });
  }

  async #commit<T>(earlier: Promise<unknown>, effect: () => Promise<T>): Promise<T> {
    this.#committing += 1;
    try {
      await earlier;
      const ms = this.#dice.int(-COMMIT_MS_MAX, COMMIT_MS_MAX);
      if (ms > 0) await this.pause(ms);
      if (this.#refusal === undefined) return await this.call(effect);
      const wasBroken = this.#isBroken;
      this.#isBroken = true;
      if (this.#refusal === "kept" && !wasBroken) await this.call(effect);
      throw journalFault("JOURNAL_BROKEN", "in memory", "the disk failed");
    } finally {
      this.#committing -= 1;
    }
  }

  /** Instead of asking again and again, which costs a simulation most of its time. */
  async #nextOutsideWrite(): Promise<void> {
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(this.stopping.reason);
    this.stopping.addEventListener("abort", abort, { once: true });
    if (this.stopping.aborted) abort();
    await Promise.race([this.#written.promise, aborted.promise]);
  }

  #burns(): boolean {
    this.#fuse -= 1;
    if (this.#fuse <= 0) this.crash();
    return this.#isOver;
  }
}

async function* listed(read: () => Promise<unknown>): AsyncGenerator<Document> {
  yield* (await read()) as Document[];
}

/** The same object, every method of which goes through `call`; what else it has can be read. */
export function guarded<T extends object>(
  target: T,
  call: (name: string, effect: () => Promise<unknown>) => Promise<unknown>,
): T {
  const handle: Record<string, unknown> = {};
  for (const [name, inherited] of membersOf(target)) {
    const own = Object.getOwnPropertyDescriptor(target, name) ?? inherited;
    const value: unknown = own.value;
    if (typeof value === "function") {
      handle[name] = (...parameters: unknown[]) =>
        call(name, () => Reflect.apply(value, target, parameters) as Promise<unknown>);
    } else if (own.get) {
      Object.defineProperty(handle, name, { get: () => Reflect.get(target, name) as unknown });
    } else handle[name] = value;
  }
  return handle as T;
}

const members = new WeakMap<object, ReadonlyMap<string, PropertyDescriptor>>();

/** Everything that the class of an object and those above it, or a plain object, have. */
function membersOf(target: object): ReadonlyMap<string, PropertyDescriptor> {
  const kind = Object.getPrototypeOf(target) as object;
  const first = kind === Object.prototype ? target : kind;
  const known = members.get(first);
  if (known) return known;
  const found = new Map<string, PropertyDescriptor>();
  for (let of = first; of !== Object.prototype; of = Object.getPrototypeOf(of) as object) {
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(of)))
      if (name !== "constructor" && !found.has(name)) found.set(name, descriptor);
  }
  members.set(first, found);
  return found;
}
