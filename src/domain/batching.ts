/** An open group of documents of one mirror that became ready together. Times in epoch ms. */
export type OpenBatch = {
  /** At most 36 characters (upload, rules of `batch`). */
  readonly id: string;
  readonly mirrorId: number;
  readonly openedAt: number;
  readonly joinedAt: number;
  readonly documents: number;
};

/** Documents that become ready within `quietMs` of one another share a batch, up to `documentsMax`. */
export type BatchPolicy = { readonly quietMs: number; readonly documentsMax: number };

/**
 * The batch that a document ready at `at` joins: the last one while it is still open, else a new
 * one. The first document does not wait for the others, so a batch costs no delay.
 */
export function joinBatch(
  last: OpenBatch | undefined,
  ready: { mirrorId: number; at: number },
  policy: BatchPolicy,
  newId: () => string,
): OpenBatch {
  const { mirrorId, at } = ready;
  const open =
    last !== undefined &&
    last.documents < policy.documentsMax &&
    // A clock that was set back must not keep a batch open for ever.
    Math.abs(at - last.joinedAt) <= policy.quietMs;
  if (open) {
    return { ...last, joinedAt: Math.max(last.joinedAt, at), documents: last.documents + 1 };
  }
  return { id: newId(), mirrorId, openedAt: at, joinedAt: at, documents: 1 };
}
