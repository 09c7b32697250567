import type { Readable } from "node:stream";

/** Where a person types: a process's standard input, or a test's. */
export type Input = Readable & {
  readonly isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
};

/** The last two are Ctrl-C and Ctrl-D. */
const QUIT = ["q", "Q", "\u0003", "\u0004"];

/** A person who can be asked: both ends are a terminal. */
export function isKeyboard(input: Input | undefined): input is Input {
  return input?.isTTY === true && input.setRawMode !== undefined;
}

/**
 * Calls `onQuit` when the person types q, Escape or Ctrl-C, which come as characters meanwhile.
 * Disposing gives the terminal back as it was.
 */
export function quitKeys(input: Input, onQuit: () => void): Disposable {
  const read = (chunk: Buffer | string) => {
    const keys = String(chunk);
    // An escape sequence, such as an arrow's, begins with Escape and goes on.
    if (keys === "\u001b" || QUIT.some((key) => keys.includes(key))) onQuit();
  };
  input.setRawMode?.(true);
  input.on("data", read);
  input.resume();
  return {
    [Symbol.dispose]() {
      input.off("data", read);
      input.setRawMode?.(false);
      input.pause();
    },
  };
}
