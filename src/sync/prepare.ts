/** What becomes of a file that was found whole and quiet: what goes with it is decided, and it joins a batch. */
import { type Backoff, backoffMs } from "../domain/backoff.ts";
import { joinBatch } from "../domain/batching.ts";
import type { Document, Problem } from "../domain/document.ts";
import type { Attributes } from "../domain/attributes.ts";
import type { Batch, Batches, Change } from "../journal/journal.ts";
import type { HookAnswer } from "../rules/answer.ts";
import { type Decided, type RulesDecision, decide } from "../rules/apply-rules.ts";
import { NO_RULES } from "../rules/rules.ts";
import { InvariantError } from "../std/fault.ts";
import { joinRaw, shown, type RawPath } from "../std/raw-path.ts";
import type { Mirror } from "../config/config.ts";
import type { ClockGap } from "../domain/clock-gaps.ts";
import { type Ripeness, ripeness, unfitSize } from "../domain/settle.ts";
import type { Inspection } from "../source/source.ts";
import type { LiveMirror, DecisionContext } from "./context.ts";
import { CLOCKS, HOLD, AGAIN_MS } from "./waits.ts";
import { ArchiveError } from "../archive/archive-error.ts";

/** Something worth knowing of it, and what a hook answered; absent: nobody asked one. */
export type Preparation = { readonly remark: string | null; readonly answer?: HookAnswer };

export class Readying {
  readonly #context: DecisionContext<Batches>;
  readonly #time: ArchiveTime;
  readonly #batches = new Map<number, Batch>();
  #stopping: AbortSignal = new AbortController().signal;

  constructor(context: DecisionContext<Batches>) {
    this.#context = context;
    this.#time = new ArchiveTime(context);
  }

  /** What the archive is asked ends when `stopping` aborts. */
  begin(stopping: AbortSignal): void {
    this.#stopping = stopping;
  }

  /** It becomes `pending` with what was decided, or is held for what cannot be. */
  async settled(
    mirror: LiveMirror,
    document: Document,
    found: Whole,
    { remark, answer }: Preparation,
  ): Promise<Change[]> {
    const decision = await this.decision(mirror, document, found, answer);
    if ("problem" in decision) return [this.undecided(document, decision.problem)];
    return this.#pending(mirror, document, found, { remark, decided: decision.decided });
  }

  /** The same for what the archive has: what the rules cannot decide of it does not hold it. */
  async known(mirror: LiveMirror, document: Document, found: Whole): Promise<Change[]> {
    const path = joinRaw(document.dir, document.name);
    for (const rules of [mirror.settings.rules, NO_RULES]) {
      const settings = { ...mirror.settings, rules };
      const decision = decisionOn(settings, path, found, archiveNow(this.#context));
      if ("problem" in decision) continue;
      return this.#pending(mirror, document, found, { remark: null, decided: decision.decided });
    }
    throw new InvariantError(`document ${document.id}: held by no rules`);
  }

  async #pending(
    mirror: LiveMirror,
    document: Document,
    found: Whole,
    { remark, decided }: { readonly remark: string | null; readonly decided: Decided },
  ): Promise<Change[]> {
    const at = this.#context.clock.now();
    const { folder, name } = decided;
    const isUnfinished = found.completeness === "unfinished";
    const attributes: Attributes | null = isUnfinished
      ? { ...decided.attributes, unfinished: true }
      : decided.attributes;
    const batch = await this.#join(mirror, at);
    const here = shown(document.name);
    const named = attributes?.hook?.includes("name")
      ? `named by the before hook; here it is ${here}`
      : null;
    const fixed = name.fixed ? `the archive gets a legal name; here it is ${here}` : named;
    const event = {
      type: "settled",
      at,
      digest: found.digest,
      sentName: name.name,
      targetPath: folder,
      attributes,
      remark: remark ?? fixed,
      batch: batch.id,
      estimate: found.pages ?? null,
    } as const;
    return [
      { type: "batch", batch },
      { type: "event", id: document.id, event, from: ["settling"] },
    ];
  }

  /** What the rules decide by the archive's clock; where that matters, only while it can be told. */
  async decision(
    { settings }: LiveMirror,
    { dir, name }: Document,
    found: Whole,
    answer?: HookAnswer,
  ): Promise<RulesDecision> {
    const decide = () =>
      decisionOn(settings, joinRaw(dir, name), found, archiveNow(this.#context), answer);
    const decision = decide();
    if (!isDated(decision)) return decision;
    const problem = await this.#time.problem(this.#stopping);
    return problem ? { problem } : decide();
  }

  /** Held for what could not be decided. */
  undecided(document: Document, problem: Problem): Change {
    return this.held(document, problem, problem.code === "CLOCKS_DIFFER" ? CLOCKS : HOLD);
  }

  /** `patience` null: no time helps, only another content. */
  held(document: Document, problem: Problem, consecutiveFailures: Backoff | null): Change {
    const { clock, random } = this.#context;
    const at = clock.now();
    const tries = document.problem?.code === problem.code ? document.consecutiveFailures + 1 : 1;
    const dueAt = consecutiveFailures && at + backoffMs(consecutiveFailures, tries, random);
    const event = { type: "heldBack", at, dueAt, problem } as const;
    return { type: "event", id: document.id, event, from: ["settling"] };
  }

  async #join(mirror: LiveMirror, at: number): Promise<Batch> {
    const { journal, config, newBatchId } = this.#context;
    const mirrorId = mirror.row.id;
    const last = this.#batches.get(mirrorId) ?? (await journal.lastBatch(mirrorId));
    const policy = { quietMs: config.batch.quietMs, documentsMax: config.batch.maxDocuments };
    const batch = joinBatch(last, { mirrorId, at }, policy, newBatchId);
    this.#batches.set(mirrorId, batch);
    return batch;
  }
}

/** It has an expiry date, or was denied one by what time it is. */
function isDated(decision: RulesDecision): boolean {
  return "problem" in decision
    ? decision.problem.code === "EXPIRY_TOO_SOON"
    : decision.decided.attributes?.expiry !== undefined;
}

/** A file that was found whole. */
export type Whole = Extract<Inspection, { kind: "whole" }>;

/** How long a file has been as it is, epoch milliseconds, and whether a person asked that it be sent as it is. */
type Standing = {
  readonly now: number;
  readonly changedAt: number;
  readonly anyway: boolean;
  /** What our clock skipped while we ran. */
  readonly skipped?: readonly ClockGap[];
};

/** Whether a file that was found whole may be sent, before any rule is asked: settling and `plan` judge alike. */
export function judge(
  { settleMs, incompleteMs, stillIncomplete, rules: { ready } }: Mirror,
  { seen, completeness, why }: Whole,
  standing: Standing,
): Ripeness | { readonly kind: "unfit"; readonly problem: Problem } {
  const unfit = unfitSize(seen, ready);
  if (unfit) return { kind: "unfit", problem: unfit };
  const { minAgeMs } = ready;
  const quiet = { ...standing, settleMs, incompleteMs, stillIncomplete, minAgeMs };
  return ripeness(seen, completeness, quiet, why);
}

/**
 * What the rules of a mirror decide of a file that was found whole, and a hook that was asked.
 * `at`: epoch milliseconds.
 */
export function decisionOn(
  { name, rules, target }: Mirror,
  path: RawPath,
  { seen, notes }: Whole,
  at: number,
  answer?: HookAnswer,
): RulesDecision {
  return decide(rules, target, {
    mirror: name,
    path,
    modifiedAt: seen.modifiedAt,
    at,
    sidecar: notes?.sidecar ?? null,
    ...(notes?.sidecarRead ? { sidecarRead: notes.sidecarRead } : {}),
    ...(answer ? { answer } : {}),
  });
}

/**
 * What time it is by the archive's clock. An expiry date cannot be taken back, and it is the archive that
 * acts upon it; a host whose clock has no battery may be years off.
 */
type Context = Pick<DecisionContext, "archive" | "clock">;

/** Of clocks further apart one is wrong, and nobody knows which. */
const APART_MS_MAX = 86_400_000;

/** Epoch milliseconds by the archive's clock, as far as it is known. */
function archiveNow({ archive, clock }: Context): number {
  return clock.now() + (archive.clockOffsetMs ?? 0);
}

/** Whether dates may be estimated. The archive is asked where it has not answered since the start. */
class ArchiveTime {
  readonly #context: Context;
  /** What it said when it could not be asked, and until when that is taken as its answer (monotonic). */
  #failed: { readonly problem: Problem; readonly until: number } | undefined;
  /** It answered without outbox entry its time. */
  #isUndelivered = false;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Why no date may be estimated now; undefined: `archiveNow` is right, or the archive tells no time at all. */
  async problem(stopping: AbortSignal): Promise<Problem | undefined> {
    const { archive, clock } = this.#context;
    if (archive.clockOffsetMs === undefined && !this.#isUndelivered) {
      const failed = await this.#ask(stopping);
      if (failed) return failed;
    }
    const offsetMs = archive.clockOffsetMs ?? 0;
    if (Math.abs(offsetMs) <= APART_MS_MAX) return undefined;
    const here = dayOf(clock.now());
    const there = dayOf(clock.now() + offsetMs);
    const message = `by this host's clock it is ${here}, by the archive's ${there}: no expiry date is estimated`;
    return { code: "CLOCKS_DIFFER", message };
  }

  async #ask(stopping: AbortSignal): Promise<Problem | undefined> {
    const { archive, clock } = this.#context;
    if (this.#failed && clock.monotonic() < this.#failed.until) return this.#failed.problem;
    try {
      await archive.folder(undefined, stopping);
      this.#failed = undefined;
      this.#isUndelivered = archive.clockOffsetMs === undefined;
      return undefined;
    } catch (error) {
      stopping.throwIfAborted();
      if (!(error instanceof ArchiveError)) throw error;
      // An archive that says no has told its time, too.
      if (archive.clockOffsetMs !== undefined) return undefined;
      const message = `the archive, by whose clock its expiry date is estimated, cannot be asked: ${error.message}`;
      const problem = { code: "CLOCKS_DIFFER", message } as const;
      this.#failed = { problem, until: clock.monotonic() + AGAIN_MS };
      return problem;
    }
  }
}

function dayOf(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime())
    ? "beyond all dates"
    : date.toISOString().slice(0, 16).replace("T", " ");
}
