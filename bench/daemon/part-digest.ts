import { createHash } from "node:crypto";

const HEAD_END = Buffer.from("\r\n\r\n");

/** SHA-256 of the file in a multipart body that ends with it, while the body flows past. */
export class PartDigest {
  readonly #hash = createHash("sha256");
  /** Where the file ends in the body. */
  readonly #end: number;
  #head: Buffer | undefined = Buffer.alloc(0);
  #at = 0;

  /** `bytes` is the whole body's. */
  constructor(boundary: string, bytes: number) {
    this.#end = bytes - `\r\n--${boundary}--\r\n`.length;
  }

  /** The next bytes of the body. */
  add(chunk: Buffer): void {
    if (!this.#head) return this.#take(chunk);
    const head = Buffer.concat([this.#head, chunk]);
    const part = head.indexOf('name="file"');
    const end = part < 0 ? -1 : head.indexOf(HEAD_END, part);
    this.#head = end < 0 ? head : undefined;
    if (end < 0) return;
    this.#at = end + HEAD_END.length;
    this.#take(head.subarray(this.#at));
  }

  hex(): string {
    return this.#hash.digest("hex");
  }

  #take(bytes: Buffer): void {
    const own = Math.max(0, this.#end - this.#at);
    this.#hash.update(bytes.subarray(0, own));
    this.#at += bytes.length;
  }
}
