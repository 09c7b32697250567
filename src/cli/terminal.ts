import type { Writable } from "node:stream";
import { styleText } from "node:util";
import { Fault, codeOf, messageOf } from "../std/fault.ts";
import { inert } from "../std/printable.ts";

/** Where a command writes: a process's stream, or a test's. */
export type OutputStream = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

/** The styles in use; each means one thing wherever it occurs. */
export type Style = "bold" | "dim" | "green" | "yellow" | "red" | "cyan";

/** Back to the start of the line, and the line cleared. */
const CLEAR = "\r\u001b[2K";

const ESCAPE = "\u001b";

/** What `paint` puts around a text; nothing else that steers a terminal is let through. */
const PAINT = new RegExp(`(${ESCAPE}\\[(?:1|2|22|31|32|33|36|39)m)`);

const WIDTH_DEFAULT = 100;

/** The smallest screen that is estimated with. */
const ROWS_DEFAULT = 24;

/**
 * One output stream. Colour only on a terminal, and not against NO_COLOR; elsewhere plain text, but
 * for FORCE_COLOR, which goes before both as it does in Node. A reader that went away (`| head`) is no
 * failure: what is written after it is dropped.
 *
 * Whatever a command writes, text or JSON, leaves through `clean`: a name, or an archive's reply, that
 * steers a terminal does nothing there, whether or not anyone who wrote it thought of that.
 */
export class Terminal {
  /** True when a person watches: lines may be drawn over. */
  readonly isInteractive: boolean;
  readonly hasColour: boolean;
  readonly #stream: OutputStream;
  readonly #gone = new AbortController();
  #failure: unknown;

  constructor(stream: OutputStream, env: NodeJS.ProcessEnv) {
    this.#stream = stream;
    this.isInteractive = stream.isTTY === true && env["TERM"] !== "dumb";
    this.hasColour = wantsColour(env) ?? this.isInteractive;
    stream.on("error", (error) => {
      if (codeOf(error) !== "EPIPE") this.#failure ??= error;
      this.#gone.abort(error);
    });
  }

  /** Columns. */
  get width(): number {
    return this.#stream.columns || WIDTH_DEFAULT;
  }

  /** Lines of the screen. */
  get rows(): number {
    return this.#stream.rows || ROWS_DEFAULT;
  }

  /** Aborts when nobody reads any more; a long list ends there. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Resolves when the text is taken. Rejects with OUTPUT_FAILED when it cannot be, e.g. a full disk. */
  async write(text: string): Promise<void> {
    await this.draw(this.clean(text));
  }

  /** Writes with the control sequences in it; what stands between them has to be `clean`. See `write`. */
  async draw(text: string): Promise<void> {
    if (!this.#gone.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#stream.write(text, () => resolve());
      });
    }
    if (this.#failure === undefined) return;
    const message = `cannot write the output: ${messageOf(this.#failure)}`;
    throw new Fault("OUTPUT_FAILED", message, "Free space, or write to another place.");
  }

  /** Writes a line; see `write`. */
  async line(text = ""): Promise<void> {
    await this.write(`${text}\n`);
  }

  /** Writes without waiting, for news that nobody waits for. */
  print(text: string): void {
    if (!this.#gone.signal.aborted) this.#stream.write(this.clean(text));
  }

  /** Writes over the line that was drawn last; without `line` nothing is left of it. */
  redraw(line = ""): void {
    if (!this.#gone.signal.aborted) this.#stream.write(CLEAR + this.clean(line));
  }

  /** Lines with nothing in them that steers a terminal, but for what `paint` made where there is colour. */
  clean(text: string): string {
    if (!this.hasColour) return inert(text);
    return text
      .split(PAINT)
      .map((part, at) => (at % 2 === 1 ? part : inert(part)))
      .join("");
  }

  /** Without colour the text as it is: no escapes reach a file or a pipe. */
  paint(style: Style | readonly Style[], text: string): string {
    return this.hasColour ? styleText(style as Style, text, { validateStream: false }) : text;
  }
}

/** What the environment says of colours; undefined: nothing. */
function wantsColour(env: NodeJS.ProcessEnv): boolean | undefined {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return (env["NO_COLOR"] ?? "") === "" ? undefined : false;
}
