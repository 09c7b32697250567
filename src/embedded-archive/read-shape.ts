import type { z } from "zod";

/** What `given` means by `shape`. Throws what `refuse` makes of the first thing that cannot be meant. */
export function readShape<T>(
  shape: z.ZodType<T>,
  given: unknown,
  refuse: (why: string) => Error,
): T {
  const read = shape.safeParse(given, { reportInput: true });
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  if (issue?.code === "unrecognized_keys")
    throw refuse(`there is no part ${JSON.stringify(issue.keys[0])} here`);
  // A union says which of its forms there is none of.
  if (issue?.code === "invalid_union" && "discriminator" in issue) throw refuse(issue.message);
  const name = issue?.path.join(".") || "it";
  throw refuse(`${name} cannot be ${JSON.stringify(issue?.input) ?? "missing"}`);
}
