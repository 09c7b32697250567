/** A reply whose JSON is not what the interface describes. The message names fields, not values. */
export class UnreadableError extends Error {
  override readonly name = "UnreadableError";
}

/** A JSON object as it was parsed. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The value as an object, or undefined. */
export function objectOf(value: unknown): JsonObject | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return value as JsonObject;
}

/** An own property; what a prototype lends does not count. */
export function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/**
 * Reads one object of a reply field by field: integers may come as text, flags too, null is
 * absent, what is not asked for is not looked at. An optional field of the wrong type counts as
 * absent, because nothing that matters rests on it; a required one makes the reply unreadable.
 */
export class JsonFields {
  readonly #object: JsonObject;
  readonly #where: string;

  constructor(value: unknown, where: string) {
    const object = objectOf(value);
    if (!object) throw new UnreadableError(`${where} is not an object`);
    this.#object = object;
    this.#where = where;
  }

  integer(name: string): number {
    return this.optionalInteger(name) ?? this.#unreadable(name, "an integer");
  }

  optionalInteger(name: string): number | undefined {
    const value = own(this.#object, name);
    const number = typeof value === "string" && /^-?\d{1,16}$/.test(value) ? Number(value) : value;
    return Number.isSafeInteger(number) ? (number as number) : undefined;
  }

  /** One or more: 0 is what an archive writes that has no identifier to tell. */
  identifier(name: string): number {
    return this.optionalNatural(name) || this.#unreadable(name, "a number from 1");
  }

  /** Zero or more: a count, a size, the identifier of a folder, since 0 may be the root's. */
  natural(name: string): number {
    return this.optionalNatural(name) ?? this.#unreadable(name, "a number from 0");
  }

  optionalNatural(name: string): number | undefined {
    const number = this.optionalInteger(name);
    return number !== undefined && number >= 0 ? number : undefined;
  }

  text(name: string): string {
    return this.optionalText(name) ?? this.#unreadable(name, "text");
  }

  optionalText(name: string): string | undefined {
    const value = own(this.#object, name);
    return typeof value === "string" ? value : undefined;
  }

  optionalFlag(name: string): boolean | undefined {
    const value = own(this.#object, name);
    if (value === true || value === "true") return true;
    if (value === false || value === "false") return false;
    return undefined;
  }

  object(name: string): JsonFields {
    return new JsonFields(own(this.#object, name), `${this.#where}.${name}`);
  }

  /** The items, read one by one. A list that is absent or null proves nothing, so it is unreadable. */
  list<Item>(name: string, read: (fields: JsonFields) => Item): Item[] {
    const value = own(this.#object, name);
    if (!Array.isArray(value)) return this.#unreadable(name, "a list");
    return value.map((item, i) => read(new JsonFields(item, `${this.#where}.${name}[${i}]`)));
  }

  #unreadable(name: string, what: string): never {
    throw new UnreadableError(`${this.#where}.${name} is not ${what}`);
  }
}
