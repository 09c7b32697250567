/** Follows what happens in the crew while this daemon's loops run, with the duties they began with. */
import type { Crew, CrewChange, Duty } from "../journal/crew.ts";
import type { Log } from "../std/log.ts";
import { isShared } from "../sync/duties.ts";

/** Why the loops have to begin anew: there is more to do, or less, or this daemon is nobody any more. */
export type StartOver = "gained" | "crowded" | "lost";

export class CrewWatch implements Disposable {
  readonly #crew: Crew;
  readonly #log: Log;
  readonly #listening: () => void;
  readonly #startOver = Promise.withResolvers<StartOver>();
  /** Duties that the loops have; undefined until they are fixed. */
  #fixed: ReadonlySet<Duty> | undefined;
  #away: string | undefined;
  /** Told when the journal goes away: who asked it something would wait until it is back. */
  readonly #asking = new Set<(why: string) => void>();
  #isLost = false;
  #goesOn = false;
  /** Told when the journal can be reached again. */
  readonly #back: () => void;

  private constructor(crew: Crew, log: Log, back: () => void) {
    this.#crew = crew;
    this.#log = log;
    this.#back = back;
    this.#listening = crew.listen((change) => this.#heard(change));
  }

  /** Seeks the duties, some of which this host is near to, and fixes those that it gets. */
  static async open(
    crew: Crew,
    { duties, near = [] }: { duties: readonly Duty[]; near?: readonly Duty[] },
    log: Log,
    back: () => void,
  ): Promise<CrewWatch> {
    const watch = new CrewWatch(crew, log, back);
    if (!isShared(crew)) return watch;
    await crew.seek(duties, near);
    const fixed = duties.filter((duty) => crew.leads(duty));
    watch.#fixed = new Set(fixed);
    log.info({ member: crew.memberId, duties: fixed }, "one of several daemons on the journal");
    return watch;
  }

  /** Resolves when the loops have to begin anew. */
  get startOver(): Promise<StartOver> {
    return this.#startOver.promise;
  }

  /** What there is to say while the journal cannot be reached; undefined while it can. */
  get away(): string | undefined {
    return this.#away;
  }

  /**
   * What `ask` finds in the journal, or what `instead` makes of its being away: at once where it is, or as
   * soon as it goes away meanwhile.
   */
  async answered<T>(ask: () => Promise<T>, instead: (why: string) => T): Promise<T> {
    if (this.#away !== undefined) return instead(this.#away);
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#asking.add(resolve);
    try {
      return await Promise.race([ask(), promise.then(instead)]);
    } finally {
      this.#asking.delete(resolve);
    }
  }

  /** The loops end so that they begin anew as the same member: there is more to do, or less. */
  get goesOn(): boolean {
    return this.#goesOn;
  }

  /** Nothing that this daemon does is journaled any more. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Whether the loops have this duty. */
  leads(duty: Duty): boolean {
    return !isShared(this.#crew) || this.#fixed?.has(duty) === true;
  }

  [Symbol.dispose](): void {
    this.#listening();
  }

  #heard(change: CrewChange): void {
    const log = this.#log;
    switch (change.type) {
      case "gained": {
        const gained = change.duties.filter((duty) => this.#fixed && !this.#fixed.has(duty));
        if (gained.length === 0) return;
        log.info({ duties: gained }, "more to do; the loops begin anew");
        this.#goesOn = true;
        this.#startOver.resolve("gained");
        return;
      }
      case "crowded":
        log.info({}, "others are there to share with; the loops begin anew");
        this.#goesOn = true;
        this.#startOver.resolve("crowded");
        return;
      case "others-lost": {
        const members = change.members.map(({ name, id }) => ({ name, id }));
        log.warn({ members }, "other daemons are gone; what they were sending is in doubt");
        return;
      }
      case "away":
        this.#away = `the journal cannot be reached: ${change.why}`;
        log.warn({ why: change.why }, "the journal cannot be reached; nothing new is sent");
        for (const tell of this.#asking) tell(this.#away);
        return;
      case "back":
        this.#away = undefined;
        log.info({}, "the journal can be reached again");
        this.#back();
        return;
      case "lost":
        this.#isLost = true;
        log.warn({ member: this.#crew.memberId }, "the lease is lost; beginning anew as another");
        this.#startOver.resolve("lost");
    }
  }
}
