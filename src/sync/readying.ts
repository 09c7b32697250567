/** What becomes of a file that was found whole and quiet: what goes with it is decided, and it joins a batch. */
import { type Backoff, backoffMs } from "../domain/backoff.ts";
import { joinBatch } from "../domain/batching.ts";
import type { Document, Trouble } from "../domain/document.ts";
import type { Batch, Change } from "../journal/journal.ts";
import type { Answer } from "../rules/answer.ts";
import { joinRaw, shown } from "../std/raw-path.ts";
import type { Whole } from "./already-sent.ts";
import type { LiveMirror, SyncContext } from "./context.ts";
import { decisionOn } from "./decision.ts";
import { HOLD } from "./patience.ts";

/** Something worth knowing of it, and what a hook answered; absent: nobody asked one. */
export type Ready = { readonly remark: string | null; readonly answer?: Answer };

export class Readying {
  readonly #context: SyncContext;
  readonly #batches = new Map<number, Batch>();

  constructor(context: SyncContext) {
    this.#context = context;
  }

  /** It becomes `pending` with what was decided, or is held for what cannot be. */
  async settled(
    mirror: LiveMirror,
    document: Document,
    found: Whole,
    { remark, answer }: Ready,
  ): Promise<Change[]> {
    const at = this.#context.clock.now();
    const path = joinRaw(document.dir, document.name);
    const decision = decisionOn(mirror.settings, path, found, at, answer);
    if ("trouble" in decision) return [this.held(document, decision.trouble, HOLD)];
    const { folder, name, slip } = decision.decided;
    const batch = await this.#join(mirror, at);
    const here = shown(document.name);
    const named = slip?.hook?.includes("name")
      ? `named by the before hook; here it is ${here}`
      : null;
    const mended = name.mended ? `archived under a legal name; here it is ${here}` : named;
    const event = {
      type: "settled",
      at,
      digest: found.digest,
      sentName: name.name,
      targetPath: folder,
      slip,
      remark: remark ?? mended,
      batch: batch.id,
      estimate: found.pages ?? null,
    } as const;
    return [
      { type: "batch", batch },
      { type: "event", id: document.id, event, from: ["settling"] },
    ];
  }

  /** `patience` null: no time helps, only another content. */
  held(document: Document, trouble: Trouble, patience: Backoff | null): Change {
    const { clock, random } = this.#context;
    const at = clock.now();
    const tries = document.trouble?.code === trouble.code ? document.patience + 1 : 1;
    const dueAt = patience && at + backoffMs(patience, tries, random);
    const event = { type: "heldBack", at, dueAt, trouble } as const;
    return { type: "event", id: document.id, event, from: ["settling"] };
  }

  async #join(mirror: LiveMirror, at: number): Promise<Batch> {
    const { journal, config, newBatchId } = this.#context;
    const mirrorId = mirror.row.id;
    // Of a mirror that others settle too, theirs is the last batch: each has batches of its own.
    const isDivided = this.#context.duties?.division(mirrorId) !== undefined;
    const last =
      this.#batches.get(mirrorId) ?? (isDivided ? undefined : await journal.lastBatch(mirrorId));
    const policy = { quietMs: config.batch.quietMs, documentsMax: config.batch.maxDocuments };
    const batch = joinBatch(last, { mirrorId, at }, policy, newBatchId);
    this.#batches.set(mirrorId, batch);
    return batch;
  }
}
