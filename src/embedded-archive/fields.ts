/** A request's fields in the order in which they came, names as often as they were sent. */
export type Fields = readonly (readonly [name: string, value: string])[];

/** The first value of `name`; undefined when it was not sent. */
export function fieldOf(fields: Fields, name: string): string | undefined {
  return fields.find(([sent]) => sent === name)?.[1];
}
