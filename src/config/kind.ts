/** What the sections of a configuration are declared with: kinds of value, keys, secrets, sections. */
import { z } from "zod";
import type { FileKind } from "../std/small-file.ts";
import type { KeyPath, Place } from "./config-problems.ts";

/**
 * What a setting may be: a zod schema that reads one value as it came from YAML, and says in plain
 * words what is wrong with it and how to fix it.
 */
export type Kind<T> = z.ZodType<T>;

/** Refuses the value: what is wrong with it, and what to write instead. */
export type Refuse = (message: string, fix: string) => never;

/** Why a value was refused: ends the reading of that value. */
class Refusal extends Error {
  readonly fix: string;
  constructor(message: string, fix: string) {
    super(message);
    this.fix = fix;
  }
}

/** What is known of a kind of value, next to its name. */
export type KindOptions<T> = {
  readonly bounds?: string | undefined;
  /** Completes the paths in it; `at` makes one absolute. */
  readonly resolve?: (value: T, at: (path: string) => string) => T;
  /** The value is a text, or the path of a file that holds it. */
  readonly file?: FileKind;
};

type KnownKind = { readonly name: string } & KindOptions<unknown>;

/** What the reference says of a setting. */
export type About = {
  /** One or two sentences, as in the reference. */
  readonly meaning: string;
  /** A value as it would be written in the file; by default its default. */
  readonly example?: string;
  /** What applies without the key, where that is no plain value. */
  readonly without?: string;
};

/** Whether a secret has to be there; one that is not used is not looked for. */
export type Need = "required" | "optional" | "unused";

/** The values of a section, as far as they could be read. */
export type Values = Readonly<Record<string, unknown>>;

/** A secret: its value is in the file, in the file that `nameFile` names, or in a variable. */
export type Secret = {
  /** Its variable, next to the one that is named after the key. */
  readonly variable: string;
  readonly need: (section: Values) => Need;
  /** Whether the value may stand in a configuration that others can read. */
  readonly isOpen: (value: string) => boolean;
};

/** A section of which one key may be written in its place. */
export type Short = {
  /** The key that a value which is no mapping stands for. */
  readonly keyOf: (written: unknown) => string;
  /** Of such a value, as the reference calls it. */
  readonly kind: string;
  readonly about: About;
};

/** What is declared of a schema next to the values that it takes. */
type Declared = {
  readonly kind?: KnownKind;
  readonly about?: About;
  readonly secret?: Secret;
  readonly short?: Short;
  readonly check?: Check | undefined;
};

const DECLARED = new WeakMap<z.core.$ZodType, Declared>();

/** Declares more of a schema. */
export function declare<S extends z.core.$ZodType>(schema: S, more: Declared): S {
  DECLARED.set(schema, { ...DECLARED.get(schema), ...more });
  return schema;
}

/** What is declared of a schema; what its default or its being optional is written around counts, too. */
export function declared(schema: z.core.$ZodType): Declared {
  return { ...DECLARED.get(unwrap(schema).inner), ...DECLARED.get(schema) };
}

/** A kind of value called `name` in the reference; `read` returns the value or refuses it. */
export function kind<T>(
  name: string,
  read: (value: unknown, refuse: Refuse) => T,
  options: KindOptions<T> = {},
): Kind<T> {
  const refuse: Refuse = (message, fix) => {
    throw new Refusal(message, fix);
  };
  const schema = z.unknown().transform((value, context): T => {
    try {
      return read(value, refuse);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { message, fix } = error;
      context.issues.push({ code: "custom", message, params: { fix }, input: undefined });
      return z.NEVER;
    }
  });
  return declare(schema, { kind: { name, ...(options as KindOptions<unknown>) } });
}

/** Declares a setting: what it may be, and what the reference says of it. */
export function setting<S extends z.ZodType>(schema: S, about: About): S {
  return declare(schema, { about });
}

/** Reports keys of a section that contradict one another, as far as they could be read. */
export type Check<Keys = Values> = (values: Keys, at: Place) => void;

/** Declares a group of settings; a key that is not among them is an error. */
export function section<S extends z.core.$ZodLooseShape>(
  shape: S,
  meaning: string,
  check?: Check<Sketch<z.ZodObject<S>>>,
) {
  return declare(z.strictObject(shape), { about: { meaning }, check: check as Check | undefined });
}

/** Declares that a section may be written as one value, which stands for one of its keys. */
export function shortened<S extends z.ZodObject>(schema: S, short: Short): S {
  return declare(schema, { short });
}

/** What the reference says of a setting, or of a section as one of the keys next to it. */
export function aboutOf(schema: z.core.$ZodType): About | undefined {
  const { about, short } = declared(schema);
  return short?.about ?? about;
}

/** A setting's value as it would be written in the file. */
export function exampleOf(schema: z.core.$ZodType): string {
  const { example } = aboutOf(schema) ?? {};
  const { fallback } = unwrap(schema);
  return example ?? (fallback === undefined ? "…" : written(fallback));
}

/** A YAML value: as it is where that is plain text for certain, else in quotes. */
export function written(value: unknown): string {
  const plain = /^((\/|https?:\/\/|[A-Za-z])[\w./-]*(:\d+)?[\w./-]*|\d[\w.:]*)$/;
  return typeof value === "string" && plain.test(value) ? value : JSON.stringify(value);
}

/** True for the key of a secret, and for that of its file. */
export function isOfSecret(name: string, { shape }: z.ZodObject): boolean {
  return [name, name.replace(/File$/, "")].some(
    (each) => shape[each] && declared(shape[each]).secret,
  );
}

/** The schema without its default or its being optional, and the default as it would be written. */
export function unwrap(schema: z.core.$ZodType): {
  inner: z.core.$ZodType;
  fallback: unknown;
  optional: boolean;
} {
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault) {
    return { ...unwrap(schema.def.innerType), fallback: schema.def.defaultValue };
  }
  if (schema instanceof z.ZodOptional) return { ...unwrap(schema.def.innerType), optional: true };
  return { inner: schema, fallback: undefined, optional: false };
}

/** A section and where it stands. */
export type Placed = { readonly schema: z.ZodObject; readonly key: KeyPath };

/** Every section that is declared, from the top down; that of a list as its first, none in a mapping of names. */
export function declaredSections(schema: z.core.$ZodType, key: KeyPath = []): Placed[] {
  const { inner } = unwrap(schema);
  if (inner instanceof z.ZodArray) return declaredSections(inner.element, [...key, 0]);
  if (!(inner instanceof z.ZodObject)) return [];
  const below = Object.entries(inner.shape).flatMap(([name, child]) =>
    declaredSections(child, [...key, name]),
  );
  return [{ schema: inner, key }, ...below];
}

/** Every section that `value` has, with its values, which may be replaced. */
export function sectionsIn(
  schema: z.core.$ZodType,
  value: unknown,
  key: KeyPath = [],
): (Placed & { readonly values: Record<string, unknown> })[] {
  const { inner } = unwrap(schema);
  if (typeof value !== "object" || value === null) return [];
  if (inner instanceof z.ZodArray)
    return (value as unknown[]).flatMap((item, at) =>
      sectionsIn(inner.element, item, [...key, at]),
    );
  const values = value as Record<string, unknown>;
  if (inner instanceof z.ZodRecord)
    return Object.entries(values).flatMap(([name, item]) =>
      sectionsIn(inner.valueType, item, [...key, name]),
    );
  if (!(inner instanceof z.ZodObject)) return [];
  const below = Object.entries(inner.shape).flatMap(([name, child]) =>
    sectionsIn(child, values[name], [...key, name]),
  );
  return [{ schema: inner, key, values }, ...below];
}

/** A section as far as it could be read: what is missing or wrong is left out. */
export type Sketch<S> = S extends
  | z.ZodOptional<infer I>
  | z.ZodPrefault<infer I>
  | z.ZodDefault<infer I>
  ? Sketch<I> | undefined
  : S extends z.ZodObject<infer Shape>
    ? { [K in keyof Shape]?: Sketch<Shape[K]> | undefined }
    : S extends z.ZodArray<infer Item>
      ? (Sketch<Item> | undefined)[]
      : S extends z.ZodRecord<infer _, infer Item>
        ? Record<string, Sketch<Item> | undefined>
        : z.output<S>;

/** What the program gets of a section: read-only, and what may be undefined may be left out. */
export type Settings<T> = {
  readonly [K in keyof T as undefined extends T[K] ? never : K]: Fixed<T[K]>;
} & { readonly [K in keyof T as undefined extends T[K] ? K : never]?: Fixed<T[K]> };

type Fixed<T> = T extends (infer Item)[] ? readonly Item[] : T;

/** The same, as the program gets it. */
export function settings<T extends object>(value: T): Settings<T> {
  return value as unknown as Settings<T>;
}
