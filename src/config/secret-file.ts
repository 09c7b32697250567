import type { BigIntStats } from "node:fs";

/** A file that a secret was read from, and what it was then: another stamp, another content. */
export type SecretFile = { readonly path: string; readonly stamp: string };

/** Tells a file from what was there before and after it, whether it was replaced or written to. */
export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(":");
}
