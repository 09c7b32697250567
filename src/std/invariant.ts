/** A bug in scanferry itself. Never caught except at the very top, where it ends the process. */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
}

/** States what must hold; a breach is a bug, not a failure to be handled. */
export function invariant(holds: unknown, message: string): asserts holds {
  if (!holds) throw new InvariantError(message);
}
