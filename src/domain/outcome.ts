import type { Seen, Problem } from "./document.ts";

/**
 * What became of one attempt to send a document.
 *
 * - `stored`: the archive answered with the document it made.
 * - `refused`: the archive answered that it did not make one.
 * - `notSent`: proven that the archive cannot have a whole document.
 * - `lost`: anything else; the archive may or may not have it.
 * - `changed`, `gone`, `unreadable`: the file was not as journaled; the request was torn down
 *   before its end, or never begun.
 * - `notBegun`: given back untouched.
 *
 * `pressed`: the archive asked for patience, or took too long; fewer at a time may help it.
 * `credentials`: it may be the account that was refused, which a look-up shows.
 * `unnamed`: the archive answered with a code that the interface does not name.
 */
export type Outcome =
  | {
      readonly kind: "stored";
      readonly documentId: number;
      readonly status: string | null;
      /** When it was uploaded, by the archive's clock, epoch ms; absent: it did not say. */
      readonly uploadedDate?: number;
    }
  | {
      readonly kind: "refused";
      readonly problem: Problem;
      readonly retryAfterMs: number | null;
      readonly pressed?: boolean;
      readonly credentials?: boolean;
    }
  | {
      readonly kind: "notSent";
      readonly problem: Problem;
      readonly retryAfterMs: number | null;
      readonly pressed?: boolean;
    }
  | {
      readonly kind: "lost";
      readonly problem: Problem;
      readonly retryAfterMs?: number | null;
      readonly pressed?: boolean;
      readonly credentials?: boolean;
      readonly unnamed?: boolean;
    }
  | { readonly kind: "changed"; readonly seen: Seen | null }
  | { readonly kind: "gone" }
  | { readonly kind: "unreadable"; readonly problem: Problem }
  | { readonly kind: "notBegun" };
