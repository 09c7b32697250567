import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

/** A request as its bytes came in; grows while it is received. */
export class Heard {
  readonly requestLine: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly head: string;
  /** Resolves once the whole body is there or the connection is gone. */
  readonly over: Promise<void>;
  /** Bytes of the body so far. */
  received = 0;
  readonly #chunks: Buffer[] = [];
  readonly #end: () => void;

  constructor(head: string) {
    const [requestLine = "", ...lines] = head.split("\r\n");
    this.head = head;
    this.requestLine = requestLine;
    this.headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#end = resolve;
  }

  get body(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  get length(): number {
    return Number(this.headers.get("content-length"));
  }

  get whole(): boolean {
    return this.received === this.length;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.received += chunk.length;
  }

  end(): void {
    this.#end();
  }
}

/** What the server does with a connection; everything is written by hand. */
export type Script = {
  /** The head is there, the body not yet. */
  onHead?: (socket: Socket, heard: Heard) => unknown;
  /** The whole request is there. */
  onWhole?: (socket: Socket, heard: Heard) => unknown;
};

/** An HTTP server made of a socket: it keeps what it hears, byte for byte, and says what it is told. */
export class RawServer implements AsyncDisposable {
  readonly heard: Heard[] = [];
  readonly sockets: Socket[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(script: Script): Promise<RawServer> {
    const server = createServer({ noDelay: true });
    const raw = new RawServer(server);
    server.on("connection", (socket) => raw.#serve(socket, script));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return raw;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The only request there was. */
  get only(): Heard {
    const [heard] = this.heard;
    if (!heard || this.heard.length > 1) throw new Error(`${this.heard.length} requests came`);
    return heard;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #serve(socket: Socket, script: Script): void {
    this.sockets.push(socket);
    let buffer = Buffer.alloc(0);
    let current: Heard | undefined;
    socket.on("error", () => {}); // resets are what some tests are about
    socket.on("close", () => current?.end());
    socket.on("data", (chunk: Buffer) => {
      buffer = Buffer.concat([buffer, chunk]);
      if (!current) {
        const end = buffer.indexOf("\r\n\r\n");
        if (end < 0) return;
        current = new Heard(buffer.toString("latin1", 0, end));
        this.heard.push(current);
        buffer = buffer.subarray(end + 4);
        script.onHead?.(socket, current);
      }
      const missing = current.length - current.received;
      current.add(buffer.subarray(0, missing));
      buffer = buffer.subarray(missing);
      if (!current.whole) return;
      const done = current;
      current = undefined;
      done.end();
      script.onWhole?.(socket, done);
    });
  }
}

/** A reply with its length. */
export function reply(status: number, body: string | Buffer, headers: string[] = []): Buffer {
  const bytes = Buffer.from(body as string);
  const head = [`HTTP/1.1 ${status} X`, `content-length: ${bytes.length}`, ...headers, "", ""];
  return Buffer.concat([Buffer.from(head.join("\r\n"), "latin1"), bytes]);
}

/** A document as the interface shows it directly after upload. */
export function detail(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 41,
    folderId: 7,
    digidoc: false,
    documentName: "scan",
    filename: "scan.pdf",
    createdDate: 1_700_000_000_000,
    uploadedDate: 1_700_000_000_001,
    pages: 0,
    filesize: 0,
    status: "UPLOADED",
    ...fields,
  };
}

/** The reply to an upload. */
export function stored(fields: Record<string, unknown> = {}): Buffer {
  return reply(200, JSON.stringify({ response: "OK", document: detail(fields) }));
}
