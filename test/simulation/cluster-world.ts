import { codeOf } from "../../src/std/fault.ts";
import type { Repertoire } from "./actions.ts";
import type { Life } from "./life.ts";
import type { Place } from "./live-mirror.ts";
import { SimulatedDaemon } from "./simulated-daemon.ts";
import type { SimulatedReader } from "./simulated-reader.ts";
import { type Sabotage, SimulatedWorld } from "./simulated-world.ts";
import type { Sync } from "../../src/sync/sync.ts";

/** Leases are 15 s: some of these are over before anyone notices, some are not. */
const STILL_MS = [500, 4_000, 13_900, 14_100, 15_000, 16_000, 21_000, 60_000, 300_000];

/** What nobody may do where the clock is the journal's, and the journal another machine's. */
const NOT_HERE = ["clock set", "snapshot", "taken back to the snapshot"];

/** A world with two or three daemons on one journal; what happens, happens to any of them. */
export class ClusterWorld extends SimulatedWorld {
  readonly sabotage: Sabotage;
  readonly daemons: readonly SimulatedDaemon[];
  #batchesMade = 0;
  #isCalm = false;
  /** To whom things happen just now. */
  #chosen = 0;
  /** Of all of them, this one runs alone. */
  #alone: SimulatedDaemon | undefined;

  constructor(seed: number, sabotage: Sabotage = {}) {
    super(seed, sabotage);
    this.sabotage = sabotage;
    const names = ["alpha", "beta", "gamma"].slice(0, this.dice.chance(0.5) ? 2 : 3);
    this.daemons = names.map((name) => new SimulatedDaemon(this, name));
  }

  override get life(): Life | undefined {
    return this.#any.life;
  }

  override get sync(): Sync | undefined {
    return this.#any.sync;
  }

  override readerOf(mirrorId: number): SimulatedReader | undefined {
    return this.#any.readerOf(mirrorId);
  }

  override get isShared(): boolean {
    return true;
  }

  /** One that is not to send runs alone, as a command does once all daemons are stopped. */
  override start(sending = true): void {
    this.#alone = sending ? undefined : this.#any;
    for (const daemon of sending ? this.daemons : [this.#any]) daemon.start(sending);
  }

  /** All are stopped, and begin again by the other configuration. */
  override async reconfigure(change: () => void | Promise<void>): Promise<void> {
    await this.#stopped(this.daemons);
    for (const { life } of this.daemons) life?.crash();
    await change();
    this.start();
  }

  override async restartIfDead(): Promise<void> {
    for (const daemon of this.daemons) {
      const isDead = () => daemon.life?.isOver !== false;
      if (!isDead() || this.dice.chance(0.5)) continue;
      await this.clock.advance(this.dice.int(0, 5_000));
      // It may have begun again on its own.
      if (isDead()) daemon.start();
    }
  }

  override stop(): Promise<void> {
    return this.#stopped([this.#any]);
  }

  async #stopped(daemons: readonly SimulatedDaemon[]): Promise<void> {
    const stop = { isDone: false };
    this.later(0, async () => {
      await Promise.all(daemons.map((daemon) => daemon.stop()));
      stop.isDone = true;
    });
    for (let waited = 0; !stop.isDone && waited < 900; waited++) await this.clock.advance(1_000);
  }

  override tell(place: Place): void {
    for (const daemon of this.daemons) {
      this.later(this.dice.int(0, 5_000), async () => {
        const reader = daemon.readerOf(place.mirrorId);
        if (reader?.pid !== undefined) await daemon.sync?.told(reader.status);
      });
    }
  }

  override wroteOutside(): void {
    for (const { life } of this.daemons) life?.wroteOutside();
  }

  override get overdraftPages(): number {
    // What is left is claimed by several at once, and by each more than it sends at a time.
    const { monthlyPages = 0 } = this.config.quota.pages;
    return (this.daemons.length - 1) * Math.max(monthlyPages, this.config.upload.concurrency);
  }

  /** What one writes the others hear of. */
  wroteBy(writer: SimulatedDaemon): void {
    for (const daemon of this.daemons) if (daemon !== writer) daemon.life?.wroteOutside();
  }

  override repertoire(): Repertoire {
    const more: Repertoire = [
      [4, "stand still", (world) => world.later(0, () => this.#any.freeze(this.#some()))],
      [2, "cut off", (world) => world.later(0, () => this.#any.cutOff(this.#some()))],
      [1, "rescan asked of any", () => this.#any.askRescan()],
    ];
    const all = [...super.repertoire().filter(([, name]) => !NOT_HERE.includes(name)), ...more];
    return all.map(([weight, name, action]) => {
      const onSome: typeof action = (world, place) => {
        this.#choose();
        return action(world, place);
      };
      return [weight, name, onSome] as const;
    });
  }

  /** Anyone who it happens to is chosen when it happens. */
  override later(ms: number, happen: () => void | Promise<void>): void {
    super.later(ms, () => {
      this.#choose();
      return happen();
    });
  }

  /** Now and then a process stands still just before the end of a request; often, where a bug there is to be found. */
  async beforeEnd(daemon: SimulatedDaemon): Promise<void> {
    if (this.#isCalm || !this.dice.chance(this.sabotage.unfenced ? 0.4 : 0.04)) return;
    super.later(0, () => daemon.freeze(this.#some()));
    await this.clock.pass(1);
  }

  /** Its life ends of it. */
  override forgives(error: unknown): boolean {
    const code = codeOf(error);
    for (const { life } of this.daemons) if (life?.isBroken) life.crash();
    return code === "JOURNAL_BROKEN" || code === "LEASE_LOST";
  }

  override rescan(): void {
    for (const { sync } of this.daemons) sync?.rescan("schedule");
  }

  override spare(): void {
    this.#isCalm = true;
    for (const { life } of this.daemons) life?.spare();
  }

  override end(): void {
    for (const { life } of this.daemons) life?.crash();
  }

  newBatchId(): string {
    this.#batchesMade += 1;
    return `batch-${this.#batchesMade}`;
  }

  get #any(): SimulatedDaemon {
    const daemon = this.#alone ?? this.daemons[this.#chosen];
    if (!daemon) throw new Error("no daemon");
    return daemon;
  }

  #choose(): void {
    this.#chosen = this.dice.int(0, this.daemons.length - 1);
  }

  #some(): number {
    return this.dice.pick(STILL_MS) ?? 0;
  }
}
