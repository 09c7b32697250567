import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";

/** A proxy before the archive that looks for words in everything that is sent to it. */
export class Tap implements AsyncDisposable {
  readonly url: string;
  /** Bytes that went by. */
  bytes = 0;
  /** How often the word was among them. */
  found = 0;
  readonly #server: Server;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async open(archive: string, word: string): Promise<Tap> {
    const target = new URL(archive);
    const holder: { tap?: Tap } = {};
    const server = createServer((client) => {
      const upstream = connect(Number(target.port), target.hostname);
      let tail = "";
      client.on("data", (chunk) => {
        const text = tail + chunk.toString("latin1");
        tail = text.slice(1 - word.length);
        if (!holder.tap) return;
        holder.tap.bytes += chunk.length;
        holder.tap.found += text.split(word).length - 1;
      });
      client.pipe(upstream).pipe(client);
      for (const socket of [client, upstream]) {
        socket.on("error", () => {});
        socket.on("close", () => [client, upstream].forEach((each) => each.destroy()));
      }
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    holder.tap = new Tap(server, address.port);
    return holder.tap;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
  }
}
