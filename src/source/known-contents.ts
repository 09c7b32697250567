/**
 * Tells a content again by less than SHA-256 costs: of what was hashed once, a GMAC is kept, under a key that does
 * not leave this process. Two contents of n bytes have the same one with a probability of n / 2^132, and it is made
 * ten times as fast.
 */
import { type CipherGCM, createCipheriv, createHash, randomBytes } from "node:crypto";

/** From here on it pays: of less, making a GMAC takes as long as SHA-256. Bytes. */
export const TAGGED_BYTES_MIN = 128 << 10;

/** Those found long ago are sent by now, or proven by SHA-256. */
const KNOWN_MAX = 4096;

const KEY = randomBytes(16);
/** One for all: nobody sees a tag, from which more could be learned. */
const NONCE = randomBytes(12);

/** Tags by SHA-256, hex; the oldest first. */
const known = new Map<string, Buffer>();

/** A content whose SHA-256 is about to be known. */
export class ContentTag {
  readonly #gmac = gmac();

  add(bytes: Buffer): this {
    this.#gmac.setAAD(bytes);
    return this;
  }

  /** What was added has this SHA-256. Called once. */
  remember(digest: string): void {
    known.delete(digest);
    known.set(digest, tagOf(this.#gmac));
    const [oldest] = known.keys();
    if (known.size > KNOWN_MAX && oldest !== undefined) known.delete(oldest);
  }
}

/** A content that ought to be the one with a SHA-256. */
export type ContentProof = {
  add: (bytes: Buffer) => void;
  /** Whether what was added is that one. Called once. */
  holds: () => boolean;
};

/** The cheapest proof that a content has this SHA-256, hex. */
export function proofOf(digest: string): ContentProof {
  const tag = known.get(digest);
  if (tag) {
    const added = gmac();
    return { add: (bytes) => void added.setAAD(bytes), holds: () => tagOf(added).equals(tag) };
  }
  const added = createHash("sha256");
  return { add: (bytes) => void added.update(bytes), holds: () => added.digest("hex") === digest };
}

function gmac(): CipherGCM {
  return createCipheriv("aes-128-gcm", KEY, NONCE);
}

function tagOf(added: CipherGCM): Buffer {
  added.final();
  return added.getAuthTag();
}
