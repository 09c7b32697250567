/** The blows: what is done by dice to daemons, their network and their database. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import type { Way } from "../../test/fixtures/private-network.ts";
import { crowd } from "../../test/fixtures/crowd.ts";
import type { Dice } from "../../test/simulation/dice.ts";
import type { ClusterWorld } from "./cluster-world.ts";
import { DOUBT_WINDOW_MS, LEASE_MS } from "./cluster-world.ts";
import type { Frozen, Post } from "./post.ts";

/**
 * What the kernel was given goes to the archive when the way is free again, also of a process that
 * was killed, and after up to as long again: twice this is well below the doubt's window.
 */
const ARCHIVE_LOSS_MS = 4_000;

/** Between two tries of a blow. */
const LOOK_MS = 50;

/** How long a daemon that was killed stays away. */
const AWAY_MS = 2 * LEASE_MS;

/** What lasts, and what it was done to; nothing else of its kind is done to that meanwhile. */
type Lasting = { readonly on: string; readonly over: Promise<void> };

type Kind = readonly [weight: number, name: string, strike: () => Promise<boolean>];

export class Storm {
  readonly #world: ClusterWorld;
  readonly #dice: Dice;
  readonly #kinds: readonly Kind[];
  readonly #lasting = new Set<Lasting>();
  readonly #counts = new Map<string, number>();
  readonly problems: string[] = [];

  /** `names`: blows that are struck; all where it is absent. */
  constructor(world: ClusterWorld, dice: Dice, names?: readonly string[]) {
    this.#world = world;
    this.#dice = dice;
    this.#kinds = kindsOf(this).filter(([, name]) => names?.includes(name) ?? true);
  }

  /** Blows by name. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** One blow; those that last go on while the next ones are struck. */
  async strike(): Promise<void> {
    this.#look();
    for (;;) {
      const [, name, strike] = this.#dice.weighted(this.#kinds.map((kind) => [kind[0], kind]));
      if (!(await strike())) {
        // Nobody is left to whom it could be done just now.
        await sleep(LOOK_MS);
        continue;
      }
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
      return;
    }
  }

  /** Waits for the end of all that lasts. */
  async calm(): Promise<void> {
    while (this.#lasting.size > 0) {
      await Promise.all([...this.#lasting].map(({ over }) => over));
    }
    this.#look();
  }

  async killDaemon(): Promise<boolean> {
    const post = this.#dice.pick(this.#world.posts.filter(({ isManned }) => isManned));
    const isBack = this.#dice.chance(0.6);
    const awayMs = this.#dice.random() * AWAY_MS;
    if (!post) return false;
    await post.end("SIGKILL");
    if (isBack) post.start();
    else {
      this.#last(`${post.name}'s place`, awayMs, () => {
        if (!post.isManned) post.start();
      });
    }
    return true;
  }

  async killReader(): Promise<boolean> {
    const post = this.#dice.pick(this.#world.posts);
    return post?.killReader() ?? false;
  }

  /** A daemon stands still for a part of its lease, or for that many leases and more. */
  async freeze(leastMs: number, mostMs: number): Promise<boolean> {
    const which = this.#dice.weighted<Frozen>([
      [3, "all"],
      [2, "daemon"],
      [1, "readers"],
    ]);
    const ms = this.#dice.int(leastMs, mostMs);
    const post = this.#dice.pick(
      this.#world.posts.filter((each) => each.isManned && !each.isFrozen),
    );
    if (!post) return false;
    post.freeze(which);
    this.#last(`${post.name}'s processes`, ms, () => post.thaw());
    return true;
  }

  async lose(what: "journal" | "archive" | "both"): Promise<boolean> {
    const way = this.#dice.weighted<Way>([
      [3, "both"],
      [1, "there"],
      [1, "back"],
    ]);
    const ms = this.#dice.int(300, what === "journal" ? 2 * LEASE_MS : ARCHIVE_LOSS_MS);
    const isPulled = this.#dice.chance(0.5);
    const post = this.#dice.pick(
      this.#world.posts.filter((each) => each.hasCable && this.#isFree(`${each.name}'s cable`)),
    );
    if (!post) return false;
    const { journalPort, archivePort } = this.#world;
    if (what === "both" && isPulled) post.unplug();
    else {
      if (what !== "archive") post.lose(journalPort, way);
      if (what !== "journal") post.lose(archivePort, way);
    }
    this.#last(`${post.name}'s cable`, ms, () => post.heal());
    return true;
  }

  /** Ends the database, in good order or not, and starts it some time later. */
  async restart(how: "crash" | "stop"): Promise<boolean> {
    const ms = this.#dice.random() < 0.5 ? 0 : this.#dice.int(0, 2 * LEASE_MS);
    return await this.#database(async (postgres) => {
      await postgres[how]();
      await sleep(ms);
      await postgres.start();
    });
  }

  async pause(): Promise<boolean> {
    const ms = this.#dice.int(LEASE_MS / 5, 2 * LEASE_MS);
    return await this.#database(async (postgres) => {
      postgres.pause();
      await sleep(ms);
      postgres.resume();
    });
  }

  async readOnly(): Promise<boolean> {
    const ms = this.#dice.int(LEASE_MS / 5, 2 * LEASE_MS);
    return await this.#database(async (postgres) => {
      postgres.configure("default_transaction_read_only = on");
      postgres.reload();
      await sleep(ms);
      postgres.configure("default_transaction_read_only = off");
      postgres.reload();
    });
  }

  /** Others have all connections, and those of the daemons are broken. */
  async crowded(): Promise<boolean> {
    const ms = this.#dice.int(LEASE_MS / 5, LEASE_MS);
    return await this.#database(async (postgres) => {
      const crowded: Client[] = await crowd(postgres);
      await sleep(ms);
      await Promise.all(crowded.map((client) => client.end()));
    });
  }

  async #database(
    problem: (postgres: ClusterWorld["postgres"]) => Promise<void>,
  ): Promise<boolean> {
    if (!this.#isFree("database")) return false;
    this.#track(
      "database",
      problem(this.#world.postgres).catch((error: unknown) => {
        this.problems.push(`the database's own problem: ${String(error)}`);
      }),
    );
    return true;
  }

  #isFree(on: string): boolean {
    return ![...this.#lasting].some((lasting) => lasting.on === on);
  }

  #last(on: string, ms: number, end: () => void): void {
    this.#track(on, sleep(ms).then(end));
  }

  #track(on: string, over: Promise<void>): void {
    const lasting = { on, over: over.finally(() => this.#lasting.delete(lasting)) };
    this.#lasting.add(lasting);
  }

  /** Anyone who ended on its own learns about, and started again. */
  #look(): void {
    for (const post of this.#world.posts) {
      const ended = post.ended();
      this.problems.push(...ended);
      if (ended.length > 0) post.start();
    }
  }
}

function kindsOf(storm: Storm): Kind[] {
  const past = LEASE_MS + DOUBT_WINDOW_MS;
  return [
    [20, "daemon killed", () => storm.killDaemon()],
    [10, "reader killed", () => storm.killReader()],
    [10, "stopped within the lease", () => storm.freeze(100, 0.8 * LEASE_MS)],
    [14, "stopped past the lease", () => storm.freeze(1.1 * LEASE_MS, 2 * LEASE_MS)],
    // By then another one has waited out the doubt, and has sent again what was not there.
    [6, "stopped past lease and doubt", () => storm.freeze(past, past + 2 * LEASE_MS)],
    [8, "cut off from the database", () => storm.lose("journal")],
    [8, "cut off from the archive", () => storm.lose("archive")],
    [6, "cut off from both", () => storm.lose("both")],
    [4, "database crashed", () => storm.restart("crash")],
    [3, "database restarted", () => storm.restart("stop")],
    [5, "database stopped still", () => storm.pause()],
    [4, "database read-only", () => storm.readOnly()],
    [2, "database out of connections", () => storm.crowded()],
  ];
}

/** All of these posts can be manned; those that are not are given a daemon. */
export function man(posts: readonly Post[]): void {
  for (const post of posts) if (!post.isManned) post.start();
}
