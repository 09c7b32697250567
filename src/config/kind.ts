import { z } from "zod";

/**
 * What a setting may be: a zod schema that reads one value as it came from YAML, and says in plain
 * words what is wrong with it and how to fix it.
 */
export type Kind<T> = z.ZodType<T>;

/** Why a value was refused: ends the reading of that value. */
class Refusal {
  readonly message: string;
  readonly fix: string;
  constructor(message: string, fix: string) {
    this.message = message;
    this.fix = fix;
  }
}

/** Refuses the value: what is wrong with it, and what to write instead. */
export type Refuse = (message: string, fix: string) => never;

const KINDS = z.registry<{ name: string; bounds?: string | undefined }>();
const SETTINGS = z.registry<About>();

/** What the reference says of a setting. */
export type About = {
  /** One or two sentences, as in the reference. */
  readonly meaning: string;
  /** A value as it would be written in the file. */
  readonly example: string;
  /** What applies without the key, where that is no plain value. */
  readonly without?: string;
  /** The key must be given, unless its `without` says what stands in for it. */
  readonly required?: boolean;
};

/** A kind of value called `name` in the reference; `read` returns the value or refuses it. */
export function kind<T>(
  name: string,
  read: (value: unknown, refuse: Refuse) => T,
  bounds?: string,
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
  KINDS.add(schema, { name, bounds });
  return schema;
}

/** Declares a setting: what it may be, and what the reference says of it. */
export function setting<S extends z.ZodType>(schema: S, about: About): S {
  SETTINGS.add(schema, about);
  return schema;
}

/** Declares a group of settings; a key that is not among them is an error. */
export function section<S extends z.core.$ZodLooseShape>(shape: S, meaning: string) {
  return setting(z.strictObject(shape), { meaning, example: "" });
}

/** What the reference says of a setting or section. */
export function aboutOf(schema: z.core.$ZodType): About | undefined {
  return SETTINGS.get(schema);
}

/** The name of the kind of value that a leaf of the schema takes, and its bounds. */
export function kindOf(
  schema: z.core.$ZodType,
): { name: string; bounds?: string | undefined } | undefined {
  return KINDS.get(schema);
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
