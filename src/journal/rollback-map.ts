/** What was changed, so that it can be taken back: the latest change first. */
export class RollbackLog {
  readonly #steps: (readonly [map: Map<unknown, unknown>, key: unknown, before: unknown])[] = [];

  /** Runs `change`; when it throws, all that it did to maps of this log is undone. Not to be nested. */
  run<T>(change: () => T): T {
    try {
      return change();
    } catch (error) {
      for (const [map, key, before] of this.#steps.reverse())
        if (before === undefined) map.delete(key);
        else map.set(key, before);
      throw error;
    } finally {
      this.#steps.length = 0;
    }
  }

  /** `key` of `map` is about to be set; it had this value, undefined: none. */
  did(map: Map<unknown, unknown>, key: unknown, before: unknown): void {
    this.#steps.push([map, key, before]);
  }
}

/** A map whose changes can be taken back. */
export class RollbackMap<K, V extends {} | null> {
  readonly #log: RollbackLog;
  readonly #map = new Map<K, V>();

  constructor(log: RollbackLog) {
    this.#log = log;
  }

  get size(): number {
    return this.#map.size;
  }

  get(key: K): V | undefined {
    return this.#map.get(key);
  }

  set(key: K, value: V): void {
    this.#log.did(this.#map, key, this.#map.get(key));
    this.#map.set(key, value);
  }

  values(): MapIterator<V> {
    return this.#map.values();
  }

  entries(): MapIterator<[K, V]> {
    return this.#map.entries();
  }
}
