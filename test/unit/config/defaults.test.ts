import { expect, test } from "vitest";
import { z } from "zod";
import { fileSchema } from "../../../src/config/config.ts";

/** Defaults that are taken as they stand, and what they would have to be if someone wrote them. */
function taken(schema: z.core.$ZodType, key: string): [string, z.ZodDefault][] {
  if (schema instanceof z.ZodDefault) return [[key, schema]];
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    return taken(schema.def.innerType, key);
  if (schema instanceof z.ZodArray) return taken(schema.element, key);
  if (schema instanceof z.ZodRecord) return taken(schema.valueType, `${key}.*`);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, child]) => taken(child, `${key}.${name}`));
}

const TAKEN = taken(fileSchema, "");

test("there are such defaults", () => {
  expect(TAKEN.map(([key]) => key)).toContain(".schedule.rescan");
});

test.each(TAKEN)("%s has a default that could be written", (_, { def }) => {
  expect(z.parse(def.innerType, def.defaultValue)).toEqual(def.defaultValue);
});
