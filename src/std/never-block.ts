import { closeSync, constants, openSync } from "node:fs";
import type { Writable } from "node:stream";

/** What Node does not say of its terminals: the way they write, which it sets to blocking. */
type Blocking = { readonly _handle?: { setBlocking?(blocks: boolean): unknown } };

/**
 * Has what a terminal does not take wait in the stream, as with a pipe. Node waits for it: anyone who
 * stops the output (Ctrl-S) would stop the whole process, signals and all. Anything else than a
 * terminal is left as it is.
 */
export function neverBlock(stream: Writable & { readonly isTTY?: boolean; readonly fd?: number }) {
  if (stream.isTTY !== true || stream.fd === undefined || !isOwn(stream.fd)) return;
  (stream as Blocking)._handle?.setBlocking?.(false);
}

/**
 * True where Node could open the terminal once more, for this process alone. Of another user's (`su`)
 * it has what the shell has too, which must go on blocking.
 */
function isOwn(descriptor: number): boolean {
  const { O_WRONLY, O_NOCTTY, O_NONBLOCK } = constants;
  try {
    closeSync(openSync(`/proc/self/fd/${descriptor}`, O_WRONLY | O_NOCTTY | O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
}
