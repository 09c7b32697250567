/**
 * Calls over a process's message channel: each side offers functions, either side may call, and
 * every call is answered once, with a result or an error. What is said in one turn of the event
 * loop crosses in one message, for a message costs more than what is in it.
 */
import { Wakeup } from "../std/wakeup.ts";
import { Fault, codeOf, messageOf } from "../std/fault.ts";

/** The end of a channel: what `ChildProcess` and `process` have in common. */
export type Port = {
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
};

/** Functions one side offers. */
export type Offer = Record<string, (...parameters: never[]) => Promise<unknown>>;

type Message =
  | { readonly call: number; readonly method: string; readonly parameters: unknown[] }
  | { readonly answer: number; readonly result: unknown }
  | { readonly answer: number; readonly error: PlainError };

/** An error as it crosses: codes and hints survive, stacks stay where they happened. */
type PlainError = { readonly message: string; readonly code?: string; readonly hint?: string };

type Waiting = { resolve(result: unknown): void; reject(error: unknown): void };

/** A call failed because the other side is gone. */
export class ChannelClosed extends Error {
  override readonly name = "ChannelClosed";
}

/** One end of a line. `Theirs` is what the other side offers. */
export class RpcChannel<Theirs extends Offer> {
  /** Rung by a call while no other waited for its answer. */
  readonly called = new Wakeup();
  readonly #port: Port;
  readonly #waiting = new Map<number, Waiting>();
  #unsent: Message[] = [];
  #next = 1;
  #cut: ChannelClosed | undefined;

  /** Answers the other side's calls with `offer`. */
  constructor(port: Port, offer: Offer) {
    this.#port = port;
    port.onMessage((messages) => {
      for (const message of messages as Message[]) this.#receive(message, offer);
    });
  }

  /** A call is not answered yet. */
  get isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  /** Calls the other side; rejects with its error, or with `ChannelClosed` when it is gone. */
  call<M extends keyof Theirs & string>(
    method: M,
    ...parameters: Parameters<Theirs[M]>
  ): ReturnType<Theirs[M]> {
    const answer = new Promise((resolve, reject) => {
      if (this.#cut) {
        reject(this.#cut);
        return;
      }
      const call = this.#next++;
      if (!this.isAwaited) this.called.notify();
      this.#waiting.set(call, { resolve, reject });
      this.#post({ call, method, parameters });
    });
    // The offer's own type says what it resolves with; a message cannot.
    return answer as ReturnType<Theirs[M]>;
  }

  /** The other side is gone: every call that waits, and every later one, is rejected. */
  cut(why: string): void {
    this.#cut ??= new ChannelClosed(why);
    for (const waiting of this.#waiting.values()) waiting.reject(this.#cut);
    this.#waiting.clear();
  }

  /** Sends what was said now: the turn may last, when events come faster than they are read. */
  flush(): void {
    if (this.#unsent.length > 0) this.#send();
  }

  #receive(message: Message, offer: Offer): void {
    if ("call" in message) {
      void this.#answer(message, offer);
      return;
    }
    const waiting = this.#waiting.get(message.answer);
    this.#waiting.delete(message.answer);
    if ("error" in message) waiting?.reject(revived(message.error));
    else waiting?.resolve(message.result);
  }

  async #answer(
    { call, method, parameters }: Extract<Message, { call: number }>,
    offer: Offer,
  ): Promise<void> {
    try {
      const offered = offer[method] as ((...all: unknown[]) => Promise<unknown>) | undefined;
      if (!offered) throw new Error(`no such call: ${method}`);
      this.#post({ answer: call, result: await offered(...parameters) });
    } catch (error) {
      this.#post({ answer: call, error: plain(error) });
    }
  }

  #post(message: Message): void {
    this.#unsent.push(message);
    if (this.#unsent.length === 1) setImmediate(() => this.flush());
  }

  #send(): void {
    const messages = this.#unsent;
    this.#unsent = [];
    try {
      this.#port.send(messages);
    } catch (error) {
      this.cut(messageOf(error));
    }
  }
}

function plain(error: unknown): PlainError {
  const code = codeOf(error);
  return {
    message: messageOf(error),
    ...(code === undefined ? {} : { code }),
    ...(error instanceof Fault ? { hint: error.hint } : {}),
  };
}

function revived({ message, code, hint }: PlainError): Error {
  if (code !== undefined && hint !== undefined) return new Fault(code, message, hint);
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}
