import type { Problem } from "./document.ts";

/**
 * A request that the archive did not do, or may not have done.
 *
 * - `refused`: it answered so.
 * - `notSent`: proven that it cannot have a whole document.
 * - `inDoubt`: anything else; it may or may not have done it.
 *
 * `pressed`: the archive asked for patience, or took too long; fewer at a time may help it.
 * `credentials`: it may be the account that was refused, which a look-up shows.
 * `unnamed`: the archive answered with a code that the interface does not name.
 */
export type RequestFailure = {
  readonly kind: "refused" | "notSent" | "inDoubt";
  readonly problem: Problem;
  readonly retryAfterMs?: number | null;
  readonly pressed?: boolean;
  readonly credentials?: boolean;
  readonly unnamed?: boolean;
};

/**
 * What became of one attempt to send a document; `eventFor` says what that means for it.
 *
 * - `accepted`: the archive answered with the document it made.
 * - `changed`, `gone`, `unreadable`: the file was not as journaled; the request was torn down
 *   before its end, or never begun.
 * - `released`: given back untouched.
 */
export type Outcome =
  | {
      readonly kind: "accepted";
      readonly documentId: number;
      readonly status: string | null;
      /** When it was uploaded, by the archive's clock, epoch ms; absent: it did not say. */
      readonly uploadedDate?: number;
    }
  | RequestFailure
  | { readonly kind: "changed" }
  | { readonly kind: "gone" }
  | { readonly kind: "unreadable"; readonly problem: Problem }
  | { readonly kind: "released" };
