import { Fault } from "../std/fault.ts";
import type { z } from "zod";

/** What the archive was given, by options or by hand, and cannot do anything with. */
export function unusable(message: string, hint: string): Fault {
  return new Fault("EMBEDDED_ARCHIVE_OPTIONS", message, hint);
}

/**
 * A request that the archive turns down: its message is the code that `responseDescription` carries, or what
 * administration answers. `status` is the HTTP status of a reply outside the seven operations' own errors; those have
 * none, and go out with the status that the options say (section Errors, 4: the interface leaves it open).
 */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

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
