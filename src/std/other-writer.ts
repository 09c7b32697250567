/** Who next to the caller and root can change a file: what is run from it, they would run as the caller. */
import { realpathSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";

/** Whose process this is; undefined on Windows, which has no such numbers. */
export type Caller = number | undefined;

/** The bits that decide, as `stat` gives them. */
export type Owned = Pick<Stats, "uid" | "gid" | "mode">;

const STICKY = 0o1000;

/** The user that this process acts as. */
export function callerNow(): Caller {
  return process.geteuid?.();
}

/**
 * Who else can write what has these bits, as words behind its name; undefined: nobody but `caller` and
 * root. A group with the number of the owner is the owner's own, as most distributions make them; an
 * access control list shows in the group's bits.
 */
export function otherWriter({ uid, gid, mode }: Owned, caller: Caller): string | undefined {
  if (caller === undefined) return undefined;
  if (uid !== 0 && uid !== caller) return `belongs to user ${uid}`;
  const shown = (mode & 0o7777).toString(8);
  if ((mode & 0o002) !== 0) return `can be written by everyone (mode ${shown})`;
  if ((mode & 0o020) !== 0 && gid !== uid) return `can be written by group ${gid} (mode ${shown})`;
  return undefined;
}

/**
 * The first of `path` (absolute), what it links to, and the directories above both that another can
 * write, and who that is. In a directory such as /tmp, others cannot replace what is not theirs. What is
 * not there, or cannot be looked at, is passed over.
 */
export function foreignPlace(path: string, caller: Caller): string | undefined {
  for (const place of [path, realPathOf(path)]) {
    for (let at = place; ; at = dirname(at)) {
      const stat = bitsOf(at);
      const isShared = at !== place && stat !== undefined && (stat.mode & STICKY) !== 0;
      const bits = stat && (isShared ? { ...stat, mode: stat.mode & ~0o022 } : stat);
      const why = bits && otherWriter(bits, caller);
      if (why !== undefined) return `${at} ${why}`;
      if (at === dirname(at)) break;
    }
  }
  return undefined;
}

function bitsOf(path: string): Owned | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
