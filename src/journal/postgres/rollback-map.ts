/** What was changed, so that it can be taken back: the latest change first. */
export class RollbackLog {
  readonly #steps: (() => void)[] = [];

  /** Runs `change`; when it throws, all that it did to maps of this log is undone. */
  run<T>(change: () => T): T {
    const from = this.#steps.length;
    try {
      return change();
    } catch (error) {
      while (this.#steps.length > from) this.#steps.pop()?.();
      throw error;
    }
  }

  did(undo: () => void): void {
    this.#steps.push(undo);
  }
}

/** A map whose changes can be taken back. */
export class RollbackMap<K, V> {
  readonly #log: RollbackLog;
  readonly #map: Map<K, V>;

  constructor(log: RollbackLog, entries: Iterable<readonly [K, V]> = []) {
    this.#log = log;
    this.#map = new Map(entries);
  }

  get(key: K): V | undefined {
    return this.#map.get(key);
  }

  has(key: K): boolean {
    return this.#map.has(key);
  }

  set(key: K, value: V): void {
    const before = this.#map.get(key);
    const had = this.#map.has(key);
    this.#log.did(() => (had ? this.#map.set(key, before as V) : this.#map.delete(key)));
    this.#map.set(key, value);
  }

  delete(key: K): boolean {
    if (!this.#map.has(key)) return false;
    const before = this.#map.get(key) as V;
    this.#log.did(() => this.#map.set(key, before));
    return this.#map.delete(key);
  }

  values(): V[] {
    return [...this.#map.values()];
  }

  keys(): K[] {
    return [...this.#map.keys()];
  }

  entries(): [K, V][] {
    return [...this.#map];
  }
}
