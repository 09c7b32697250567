/**
 * Questions to a person at a terminal, one after another. What is typed as a secret is not shown. To be
 * interrupted (Ctrl-C, Ctrl-D) rejects with `Interrupted`.
 */
import { createInterface, type Interface } from "node:readline/promises";
import { type Readable, Writable } from "node:stream";
import { EXIT, Interrupted } from "./exit.ts";
import type { Terminal } from "./terminal.ts";

/** How an answer is taken. */
export type QuestionOptions = {
  /** Taken when nothing is typed; undefined: something must be. */
  readonly otherwise?: string | undefined;
  /** What is wrong with an answer and, behind a semicolon, the fix; undefined: nothing. */
  readonly wrong?: (answer: string) => Promise<string | undefined> | string | undefined;
};

export class Questions implements Disposable {
  readonly #out: Terminal;
  readonly #lines: Interface;
  readonly #stopped = new AbortController();
  #isHidden = false;

  constructor(input: Input, out: Terminal) {
    this.#out = out;
    const echo = new Writable({
      write: (chunk: Buffer, _, done) => {
        // The line as it is edited, and nothing but what is typed.
        if (this.#isHidden) done();
        // oxlint-disable-next-line promise/no-callback-in-promise -- a stream takes a callback alone
        else void out.draw(chunk.toString()).then(() => done(), done);
      },
    });
    this.#lines = createInterface({ input, output: echo, terminal: true, historySize: 0 });
    for (const end of ["SIGINT", "close"] as const) {
      this.#lines.on(end, () => this.#stopped.abort());
    }
  }

  /** Asks until the answer will do. */
  async ask(what: string, { otherwise, wrong }: QuestionOptions = {}): Promise<string> {
    const offered = otherwise === undefined ? "" : ` [${otherwise}]`;
    return this.#until(wrong, async () => {
      return (await this.#read(`${what}${offered}: `)).trim() || (otherwise ?? "");
    });
  }

  /** Asks for what nobody may look at. With `known`, nothing typed means to keep that. */
  async askSecret(what: string, known?: string): Promise<string> {
    const offered = known === undefined ? "" : " [as before]";
    return this.#until(undefined, async () => {
      this.#out.print(`${what}${offered} (not shown): `);
      this.#isHidden = true;
      try {
        return (await this.#read("")).trim() || (known ?? "");
      } finally {
        this.#isHidden = false;
        this.#out.print("\n");
      }
    });
  }

  async confirm(what: string, otherwise: boolean): Promise<boolean> {
    const answer = await this.#read(`${what} [${otherwise ? "Y/n" : "y/N"}]: `);
    return answer.trim() === "" ? otherwise : /^y/i.test(answer.trim());
  }

  [Symbol.dispose](): void {
    this.#lines.removeAllListeners("close");
    this.#lines.close();
  }

  async #until(wrong: QuestionOptions["wrong"], read: () => Promise<string>): Promise<string> {
    for (;;) {
      const answer = await read();
      const problem = answer === "" ? "write an answer" : await wrong?.(answer);
      if (problem === undefined) return answer;
      await this.#out.line(this.#out.paint("yellow", `  ${problem}`));
    }
  }

  async #read(prompt: string): Promise<string> {
    try {
      return await this.#lines.question(prompt, { signal: this.#stopped.signal });
    } catch (error) {
      if (!this.#stopped.signal.aborted) throw error;
      this.#out.print("\n");
      throw new Interrupted(
        "stopped before the last question; no file was written",
        EXIT.interrupted,
      );
    }
  }
}

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
