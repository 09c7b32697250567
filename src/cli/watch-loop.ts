/**
 * A report that keeps itself up to date. On a terminal it is drawn in place, on the alternate screen,
 * so that what was there before comes back; elsewhere each piece of news is a line.
 */
import type { Shell } from "./shell.ts";
import { isKeyboard, quitKeys } from "./questions.ts";

/** How often it is asked whether there is news, and how often it is drawn all the same. */
const LOOK_MS = 250;
const DRAW_MS = 1_000;

const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const END_OF_LINE = "\u001b[K";
const END_OF_SCREEN = "\u001b[J";

/** A `mark` or `look` that rejects ends the watching with that. */
export type WatchOptions<T> = {
  /** Something that changes when there is news. */
  readonly mark: () => Promise<unknown>;
  readonly look: () => Promise<T>;
  /** Lines for the screen. */
  readonly draw: (what: T) => readonly string[];
  /** One line of news where there is no screen; the same text twice is printed once. */
  readonly tell: (what: T) => string;
};

/** Follows until the person quits, the process is asked to stop, or nobody reads any more. */
export async function watch<T>(shell: Shell, watched: WatchOptions<T>): Promise<void> {
  return shell.out.isInteractive ? watchScreen(shell, watched) : watchLines(shell, watched);
}

/** Follows line by line, also on a terminal. */
export async function watchLines<T>(
  shell: Shell,
  watched: Omit<WatchOptions<T>, "draw">,
): Promise<void> {
  const { out } = shell;
  const over = AbortSignal.any([shell.untilStopped(), out.gone]);
  let last = "";
  // News comes no faster than a person, or a log, can take it.
  await follow(shell, watched, { everyMs: DRAW_MS, over }, async (what) => {
    const text = watched.tell(what);
    if (text !== last) await out.line(text);
    last = text;
  });
}

async function watchScreen<T>(shell: Shell, watched: WatchOptions<T>): Promise<void> {
  const { out } = shell;
  const { stdin } = shell.processContext;
  const quit = new AbortController();
  const over = AbortSignal.any([shell.untilStopped(), out.gone, quit.signal]);
  using _keys = isKeyboard(stdin) ? quitKeys(stdin, () => quit.abort()) : undefined;
  let shown: readonly string[] = [];
  await out.draw(ENTER);
  try {
    await follow(shell, watched, { everyMs: LOOK_MS, over }, async (what) => {
      shown = watched.draw(what);
      const lines = [...shown, "", out.paint("dim", "q quits")];
      const text = lines.map((line) => `${out.clean(line)}${END_OF_LINE}`).join("\r\n");
      await out.draw(`${HOME}${text}${END_OF_SCREEN}`);
    });
  } finally {
    await out.draw(LEAVE);
  }
  // What was seen last stays.
  for (const line of shown) await out.line(line);
}

async function follow<T>(
  { clock }: Shell,
  { mark, look }: Pick<WatchOptions<T>, "mark" | "look">,
  { everyMs, over }: { everyMs: number; over: AbortSignal },
  show: (what: T) => Promise<void>,
): Promise<void> {
  let known: unknown;
  let shownAt = Number.NEGATIVE_INFINITY;
  while (!over.aborted) {
    const now = await mark();
    if (now !== known || clock.monotonic() - shownAt >= DRAW_MS) {
      await show(await look());
      known = now;
      shownAt = clock.monotonic();
    }
    try {
      await clock.sleep(everyMs, over);
    } catch {
      // To be asked to stop is how this ends.
      return;
    }
  }
}
