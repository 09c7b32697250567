/** A page that listens: its events, as they come. */
export class EventStream implements AsyncDisposable {
  readonly status: number;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #leave = new AbortController();
  readonly #decoder = new TextDecoder();
  #text = "";

  private constructor(response: Response, leave: AbortController) {
    this.status = response.status;
    this.#leave = leave;
    if (!response.body) throw new Error("the stream has no body");
    this.#reader = response.body.getReader();
  }

  static async open(url: string): Promise<EventStream> {
    const leave = new AbortController();
    return new EventStream(await fetch(`${url}/api/events`, { signal: leave.signal }), leave);
  }

  /** The next event, signs of life only where they are asked for; rejects when the stream ends first. */
  async next({ alive = false } = {}): Promise<{ event: string; data: unknown }> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
        if (event === undefined || data === undefined) continue;
        if (alive || event !== "alive") return { event, data: JSON.parse(data) };
        continue;
      }
      const { done, value } = await this.#reader.read();
      if (done) throw new Error("the stream has ended");
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leave.abort();
  }
}
