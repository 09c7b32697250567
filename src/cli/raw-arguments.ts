/**
 * Arguments as they were given. A name whose bytes are no text reaches a program of Node with each
 * such byte lost; Linux still has them, and they are put as `list` shows them.
 */
import { readFileSync } from "node:fs";
import { exact, rawOf } from "../std/raw-path.ts";

/** What Node puts where a byte was no text. */
const LOST = "\ufffd";

/**
 * `args` with `\xHH` for bytes that are no text, as far as `commandLine` tells them: the bytes of
 * all arguments of the process, each ended by a NUL.
 */
export function rawArguments(
  args: readonly string[],
  commandLine: () => Buffer = ownCommandLine,
): string[] {
  if (!args.some((arg) => arg.includes(LOST))) return [...args];
  const given = splitAtNul(commandLine()).slice(-args.length);
  return args.map((arg, at) => {
    const bytes = given[at];
    return bytes?.toString() === arg ? exact(rawOf(bytes)) : arg;
  });
}

/** Empty where the system does not tell. */
function ownCommandLine(): Buffer {
  try {
    return readFileSync("/proc/self/cmdline");
  } catch {
    return Buffer.alloc(0);
  }
}

function splitAtNul(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let from = 0;
  for (let to = bytes.indexOf(0); to >= 0; to = bytes.indexOf(0, from)) {
    parts.push(bytes.subarray(from, to));
    from = to + 1;
  }
  return parts;
}
