import type { Journal } from "../../src/journal/journal.ts";
import type { MirrorStatus } from "../../src/reader/protocol.ts";
import { Wakeup } from "../../src/std/wakeup.ts";
import { codeOf } from "../../src/std/fault.ts";
import { silentLog } from "../../src/std/log.ts";
import type { LiveMirror } from "../../src/sync/context.ts";
import { ownershipOf } from "../../src/sync/ownership.ts";
import { Pace } from "../../src/sync/pace.ts";
import { throttledArchive } from "../../src/sync/wrapped-archive.ts";
import { Bandwidth } from "../../src/sync/bandwidth.ts";
import { Sync } from "../../src/sync/sync.ts";
import { MemoryCluster } from "../fakes/memory-cluster.ts";
import type { ClusterWorld } from "./cluster-world.ts";
import { Life } from "./life.ts";
import { liveMirror, type Place } from "./live-mirror.ts";
import type { SimulatedReader } from "./simulated-reader.ts";
import { journaled } from "./trace.ts";
import { assignmentText } from "../../src/journal/cluster.ts";
import { RESCAN_KEY } from "../../src/sync/scan-scheduler.ts";
import { ACCOUNT, ofMirror } from "../fixtures/assignments.ts";

const SECOND = 1_000;

/** Long: a wake-up that is missed shall be seen, not slept over. */
const MAX_SLEEP_MS = 1_800 * SECOND;

const SHUTDOWN_MS = 5 * SECOND;

/** One of several daemons on a journal, through all its lives. */
export class SimulatedDaemon {
  readonly name: string;
  readonly #world: ClusterWorld;
  #life: Life | undefined;
  #cluster: MemoryCluster | undefined;
  #sync: Sync | undefined;
  #readers = new Map<number, SimulatedReader>();
  #running: Promise<void> = Promise.resolve();

  constructor(world: ClusterWorld, name: string) {
    this.#world = world;
    this.name = name;
  }

  get life(): Life | undefined {
    return this.#life;
  }

  get sync(): Sync | undefined {
    return this.#life?.isOver === false ? this.#sync : undefined;
  }

  readerOf(mirrorId: number): SimulatedReader | undefined {
    return this.#readers.get(mirrorId);
  }

  /** Begins, each time as another instance; one that is not `sending` sends nothing. */
  start(sending = true): void {
    const world = this.#world;
    const { clock, dice, trace, store } = world;
    trace.add(this.name, "starts");
    const instance = MemoryCluster.join(store, { name: this.name, clock });
    instance.stayAlive();
    const life = new Life(clock, dice, () => {
      trace.add(this.name, "killed");
      if (this.#cluster === instance) instance.die();
    });
    life.wrote = () => world.wroteBy(this);
    this.#cluster = instance;
    this.#life = life;
    this.#sync = undefined;
    this.#readers = new Map();
    this.#running = this.#live(life, instance, sending).catch((error: unknown) => {
      if (life.isBroken || codeOf(error) === "LEASE_LOST") life.crash();
      if (!life.isOver && !life.stopping.aborted) world.broke(error);
    });
  }

  /** Its process stands still, and goes on as if nothing had happened. */
  async freeze(ms: number): Promise<void> {
    const [life, cluster] = [this.#life, this.#cluster];
    if (!life || life.isOver || !cluster) return;
    this.#world.trace.add(this.name, `stands still for ${ms} ms`);
    cluster.goAway("frozen");
    await life.freeze(ms);
    if (!life.isOver) cluster.comeBack();
  }

  /** It cannot reach the journal for a while. */
  async cutOff(ms: number): Promise<void> {
    const [life, cluster] = [this.#life, this.#cluster];
    if (!life || life.isOver || !cluster) return;
    this.#world.trace.add(this.name, `is cut off for ${ms} ms`);
    cluster.goAway("cut off");
    await life.cutOff(ms);
    if (!life.isOver) cluster.comeBack();
  }

  /** SIGTERM: what is being sent is finished in time, or cut; then it leaves. */
  async stop(): Promise<void> {
    const cluster = this.#cluster;
    await this.#ended();
    cluster?.leave();
  }

  async #live(life: Life, cluster: MemoryCluster, sending: boolean): Promise<void> {
    const world = this.#world;
    const { clock, dice, config } = world;
    const plain = life.journal(
      world.store,
      (applied) => {
        for (const line of journaled(applied)) world.trace.add(this.name, line);
        world.remember(applied);
        this.#sync?.journaled(applied);
      },
      cluster,
    );
    const journal = world.sabotage.journal?.(plain, world) ?? plain;
    const configured = world.places.filter(({ isOut }) => !isOut);
    for (const place of configured) {
      const { name, source } = place.settings;
      place.mirrorId = (await journal.mirror(name, source)).id;
    }
    await world.keepNews();
    await cluster.seek([ACCOUNT, ...configured.map(({ mirrorId }) => ofMirror(mirrorId))]);
    const ownership = ownershipOf(cluster, 1);
    cluster.listen((change) => {
      if (this.#life !== life || life.isOver) return;
      if (change.type === "lost") life.crash();
      if (change.type === "gained")
        world.trace.add(this.name, `gains ${change.assignments.map(assignmentText).join()}`);
    });
    const ready = Promise.withResolvers<Sync>();
    ready.promise.catch(() => {});
    const mirrors = new Map<number, LiveMirror>();
    for (const place of configured) {
      const { mirrorId } = place;
      const tidies = () => ownership.owns(mirrorId);
      const parts = { life, journal, cluster, tidies };
      const made = await this.#mirror(place, parts, ready.promise);
      this.#readers.set(place.mirrorId, made.reader);
      mirrors.set(place.mirrorId, made.mirror);
    }
    const pace = await Pace.open({ journal, config, clock, log: silentLog });
    const wakeups = {
      sending: new Wakeup(),
      doubts: new Wakeup(),
      polling: new Wakeup(),
      held: new Wakeup(),
      after: new Wakeup(),
    };
    const sync = await Sync.open(
      {
        config,
        journal,
        pace,
        bandwidth: new Bandwidth(undefined, clock),
        ownership,
        mirrors,
        configured: mirrors,
        wakeups,
        clock,
        archive: throttledArchive(world.archiveOf(life), pace, clock),
        random: dice.random,
        log: silentLog,
        sending,
        redact: (text) => text,
        maxSleepMs: MAX_SLEEP_MS,
        newBatchId: () => world.newBatchId(),
      },
      () => null,
      () => world.changed(),
    );
    this.#sync = sync;
    ready.resolve(sync);
    const running = sync.run(life.stopping);
    for (const reader of this.#readers.values()) this.#track(life, reader.start());
    await running;
  }

  #mirror(
    place: Place,
    parts: {
      life: Life;
      journal: Journal;
      cluster: MemoryCluster;
      tidies: () => boolean;
    },
    ready: Promise<Sync>,
  ) {
    const { dice, clock, archive, sabotage } = this.#world;
    const { life, cluster } = parts;
    const mayEnd = async () => {
      await this.#world.beforeEnd(this);
      await life.running();
      return sabotage.unfenced === true || cluster.sendLeftMs > 0;
    };
    const { journal, tidies } = parts;
    const own = { life, journal, tidies };
    const outside = { ...own, clock, dice, archive, mayEnd, sabotage: sabotage.reader };
    const started = (status: MirrorStatus, restart: boolean) => {
      const told = async (sync: Sync) => {
        await sync.told(status);
        if (restart) sync.rescan("reader restarted", place.mirrorId);
      };
      this.#track(life, ready.then(told));
    };
    return liveMirror(place, outside, ready, started);
  }

  /** Resolves once its loops have ended. */
  async #ended(): Promise<void> {
    const { clock, trace, problems } = this.#world;
    const [life, sync] = [this.#life, this.sync];
    if (!life || !sync) {
      life?.crash();
      return;
    }
    trace.add(this.name, "is asked to stop");
    const stop = { isDone: false };
    this.#track(
      life,
      this.#stopped(life, sync).then(() => {
        stop.isDone = true;
      }),
    );
    for (let waited = 0; !stop.isDone && !life.isOver && waited < 700; waited++)
      await clock.pass(SECOND);
    if (!stop.isDone && !life.isOver) problems.push(`${this.name} did not stop`);
    life.crash();
  }

  async #stopped(life: Life, sync: Sync): Promise<void> {
    // A next life may have begun with others by then.
    const readers = [...this.#readers.values()];
    const over = new AbortController();
    const finished = new AbortController();
    const deadline = this.#world.clock.sleep(SHUTDOWN_MS, finished.signal).then(
      () => over.abort(),
      () => {},
    );
    await sync.drain(over.signal);
    finished.abort();
    await deadline;
    life.stop();
    for (const reader of readers) reader.close();
    await this.#running;
  }

  #track(life: Life, promise: Promise<void>): void {
    promise.catch((error: unknown) => {
      if (life.isBroken || codeOf(error) === "LEASE_LOST") life.crash();
      if (life.isOver || life.stopping.aborted) return;
      if (error instanceof Error && error.name === "ChannelClosed") return;
      this.#world.broke(error);
    });
  }

  /** A person asks this one for a rescan of everything. */
  async askRescan(): Promise<void> {
    const sync = this.sync;
    sync?.rescan("asked for");
    await this.#world.writeBeside((journal) =>
      journal.setKeyValue(RESCAN_KEY, String(this.#world.clock.monotonic())),
    );
  }
}
