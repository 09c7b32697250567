/**
 * After CONVERTED: what becomes of the local file. Two keys before anything is moved or deleted:
 * the archive says again that it has the document, CONVERTED, under this name in this folder; and
 * the local bytes are still those that were sent. What a hook has vetoed is in no archive: it is only
 * ever moved, by the second key alone, and its row is forgotten.
 */
import { ArchiveError } from "../archive/archive-error.ts";
import { lastingMs } from "../domain/backoff.ts";
import { invariant } from "../std/fault.ts";
import type { Document, Problem } from "../domain/document.ts";
import type { ArchiveJournal, Change, Documents, Note } from "../journal/journal.ts";
import { ChannelClosed } from "../reader/rpc-channel.ts";
import { joinRaw, shown } from "../std/raw-path.ts";
import { isReachable, type LiveMirror, type SyncContext } from "./context.ts";
import { sparedUntil } from "./duplicates.ts";
import { denied, afterAction } from "./verify-archived.ts";
import { invalidateDirectory } from "./changes.ts";
import { loop } from "./loop.ts";
import { AfterActions } from "./after-actions.ts";
import { Refusals } from "./refusals.ts";
import { afterActionAt, afterActionAll } from "./retry.ts";
import { AGAIN_MS, REFUSED_FILE } from "./waits.ts";

/** Rows of one round; each takes a question to the archive, and a look at all of its file. */
const CHUNK = 50;

/** Rows among which those of one mirror are looked for. */
const PAGE = 500;

/** Why nothing was moved or deleted: another program was quicker. Moved elsewhere, it may still be met there. */
export const GONE_ALREADY = "it was gone already";

/** Why nothing is moved or deleted that was claimed by name and size: the archive may have other bytes. */
const NEVER_SENT =
  "never moved or deleted: the archive already had it, and its content was not confirmed (adopt --trust-content)";

/** Rights or room are missing, or the disk fails: it may be fixed. All else is for good. */
const PASSING_CODES = ["AFTER_REFUSED", "FILE_UNREADABLE"];

/** Due at any time. */
const LATEST = Number.MAX_SAFE_INTEGER;

/** Documents of a mirror that is not configured wait for it to come back, which only a start brings. */
export const NO_MIRROR = "its mirror is not configured";
const NO_MIRROR_MS = 86_400_000;

export class AfterLoop {
  readonly #context: SyncContext<ArchiveJournal & Documents>;
  readonly #afterActions: AfterActions;
  readonly #refusals = new Refusals();
  /** Mirrors of which no file is known to be put off. */
  readonly #readyMirrors = new Set<number>();

  constructor(context: SyncContext<ArchiveJournal & Documents>, afterActions = new AfterActions()) {
    this.#context = context;
    this.#afterActions = afterActions;
  }

  async run(stopping: AbortSignal): Promise<never> {
    await this.takeUp();
    return loop(this.#context.wakeups.after, this.#context, stopping, () => this.#step(stopping));
  }

  /** What waited for its mirror is tried again, where that is among the mirrors now. */
  async takeUp(): Promise<void> {
    const { wakeups, journal, mirrors, clock } = this.#context;
    const isBack = (row: Document) => row.afterMessage === NO_MIRROR && mirrors.has(row.mirrorId);
    await afterActionAll(journal, isBack, clock.now(), "its mirror is configured again");
    wakeups.after.notify();
  }

  /** What could not be moved or deleted may be now: one is tried. */
  recheck(): void {
    this.#refusals.recheck();
    this.#context.wakeups.after.notify();
  }

  async #step(signal: AbortSignal): Promise<number> {
    const { clock, mirrors } = this.#context;
    const untried = await this.#untried();
    const due = await this.#due(clock.now(), CHUNK);
    const isOther = ({ id }: Document) => !untried.some((each) => each.id === id);
    const putOff: Change[] = [];
    const unconfigured = { afterMessage: NO_MIRROR, dueAt: clock.now() + NO_MIRROR_MS };
    for (const document of [...untried, ...this.#refusals.othersFirst(due.filter(isOther))]) {
      const mirror = mirrors.get(document.mirrorId);
      if (!mirror) putOff.push(...this.#noted(document, unconfigured));
      // Went down meanwhile: the next step does not even ask for these.
      if (!mirror || !isReachable(mirror)) continue;
      const rest = this.#refusals.restOf(document.mirrorId, clock.monotonic());
      if (rest) {
        putOff.push(...this.#noted(document, this.#later(document, rest.message, rest.leftMs)));
        continue;
      }
      try {
        const path = joinRaw(document.dir, document.name);
        await this.#afterActions.of(document.mirrorId, path, () =>
          this.#concluded(document, mirror, signal),
        );
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ArchiveError || error instanceof ChannelClosed)) throw error;
        await this.#note(document, { dueAt: clock.now() + AGAIN_MS });
      }
    }
    if (putOff.length > 0) await this.#context.journal.apply(putOff);
    if (due.length === CHUNK) return 0;
    const [next] = await this.#due(LATEST, 1);
    return next ? Math.max(AGAIN_MS, (next.dueAt ?? 0) - clock.now()) : Number.POSITIVE_INFINITY;
  }

  /** The longest due first. */
  #due(now: number, limit: number): Promise<Document[]> {
    return this.#context.journal.afterDue(now, limit, this.#reachable());
  }

  /** Of each mirror that has rested, a file that was not refused: those that were may always be the first to be due. */
  async #untried(): Promise<Document[]> {
    const { journal, clock } = this.#context;
    const reachable = this.#reachable();
    const untried: (Document | undefined)[] = [];
    for (const { mirrorId, met } of this.#refusals.takeRested(clock.monotonic())) {
      if (reachable && !reachable.includes(mirrorId)) continue;
      const all = await journal.afterDue(LATEST, met + 1, [mirrorId]);
      untried.push(all.find((each) => !this.#refusals.isMet(each)));
    }
    return untried.filter((each) => each !== undefined);
  }

  /**
   * Mirrors whose files are moved or deleted; undefined: all, also those that are not configured. Without those whose
   * reader is away: waiting for it, all others would wait with them.
   */
  #reachable(): readonly number[] | undefined {
    const { mirrors, ownership } = this.#context;
    const up = [...mirrors].flatMap(([id, mirror]) => (isReachable(mirror) ? [id] : []));
    return up.length === mirrors.size && !ownership.isShared ? undefined : up;
  }

  async #concluded(document: Document, mirror: LiveMirror, signal: AbortSignal): Promise<void> {
    if (document.state === "held") return this.#afterAction(document, mirror);
    const cared = await this.#care(document, mirror, signal);
    if (!cared) return;
    await this.#note(document, cared);
    if (cared.goneAt != null) await this.#unlearn(document, mirror);
  }

  async #unlearn({ mirrorId, dir }: Document, { reader }: LiveMirror): Promise<void> {
    try {
      await reader.unlearn(mirrorId, [dir]);
    } catch (error) {
      // The next reader gets what the journal knows.
      if (!(error instanceof ChannelClosed)) throw error;
    }
  }

  /** Undefined where nothing is to be noted: the document is in doubt again. */
  async #care(document: Document, mirror: LiveMirror, signal: AbortSignal): Promise<Note | void> {
    const { after } = mirror.settings;
    if (after.kind === "keep") return { after: null, afterMessage: null, dueAt: null };
    if (document.sentBytes === null) return { after: null, afterMessage: NEVER_SENT, dueAt: null };
    const until = sparedUntil(document);
    if (until !== undefined && this.#context.clock.now() < until) return { dueAt: until };
    if (document.digest === null) return this.#stays(document, "its digest is not known");
    const denial = await denied(document, this.#context, signal);
    if (denial?.doubt) return void (await this.#context.journal.apply([denial.doubt]));
    if (denial) return this.#stays(document, denial.why);
    const acted = await afterAction(mirror, { ...document, digest: document.digest }, after);
    switch (acted.kind) {
      case "done":
        await this.#accepted(document);
        return {
          after: "done",
          afterMessage: [acted.to, acted.stayed].filter(Boolean).join("; ") || null,
          goneAt: this.#context.clock.now(),
          dueAt: null,
        };
      case "gone":
        return {
          after: null,
          afterMessage: GONE_ALREADY,
          goneAt: document.goneAt ?? this.#context.clock.now(),
          dueAt: null,
        };
      case "refused":
        return this.#refused(document, acted.problem);
    }
  }

  #refused(document: Document, { code, message }: Problem): Note {
    const { clock } = this.#context;
    if (code === "SOURCE_OFFLINE") return { dueAt: clock.now() + AGAIN_MS };
    const why = `${code}: ${message}`;
    if (!PASSING_CODES.includes(code)) return this.#stays(document, why);
    if (code === "AFTER_REFUSED") this.#refusals.refused(document, why, clock.monotonic());
    else this.#refusals.met(document);
    this.#tell(document, why);
    return this.#later(document, why, 0);
  }

  /** Tried again, the longer it was to be moved or deleted the later; in `leastMs` at the soonest. */
  #later({ mirrorId, changedAt }: Document, why: string, leastMs: number): Note {
    this.#readyMirrors.delete(mirrorId);
    const now = this.#context.clock.now();
    const dueAt = now + Math.max(leastMs, lastingMs(REFUSED_FILE, now - changedAt));
    return { afterMessage: why, dueAt };
  }

  /**
   * Others of its mirror that were put off are tried now. Not all of them: where only small files
   * find room, each that does would have all the large ones tried.
   */
  async #accepted({ mirrorId }: Document): Promise<void> {
    this.#refusals.accepted(mirrorId);
    if (this.#readyMirrors.has(mirrorId)) return;
    const { journal, clock, wakeups } = this.#context;
    const now = clock.now();
    const why = "after-action tried again: another file could be moved or deleted";
    const found = await journal.afterPending(PAGE, { dueAt: now, id: Number.MAX_SAFE_INTEGER });
    const own = found.filter((row) => row.mirrorId === mirrorId).slice(0, CHUNK);
    if (own.length > 0) {
      await journal.apply(own.map((row) => afterActionAt(row, now, why)));
      wakeups.after.notify();
    } else if (found.length < PAGE) this.#readyMirrors.add(mirrorId);
  }

  /** For good: a person has to look at it. */
  #stays(document: Document, why: string): Note {
    this.#tell(document, why);
    return { after: "refused", afterMessage: why, dueAt: null };
  }

  #tell({ mirrorId, dir, name, afterMessage }: Document, why: string): void {
    if (why === afterMessage) return;
    const { log, mirrors } = this.#context;
    const mirror = mirrors.get(mirrorId)?.row.name;
    log.warn({ mirror, path: shown(joinRaw(dir, name)) }, `not moved or deleted: ${why}`);
  }

  /** Vetoed by a hook. */
  async #afterAction(document: Document, mirror: LiveMirror): Promise<void> {
    const { afterVeto } = mirror.settings.hooks?.before ?? { afterVeto: { kind: "keep" } as const };
    if (afterVeto.kind === "keep") return this.#note(document, { after: null, dueAt: null });
    const { digest } = document;
    invariant(digest !== null, `document ${document.id}: vetoed without a digest`);
    const acted = await afterAction(mirror, { ...document, digest }, afterVeto);
    if (acted.kind !== "refused") {
      if (acted.kind === "done") await this.#accepted(document);
      const what = acted.kind === "gone" ? GONE_ALREADY : `moved to ${acted.to}`;
      return this.#forget(document, mirror, `vetoed: ${document.problem?.message}; ${what}`);
    }
    return this.#note(document, this.#refused(document, acted.problem));
  }

  async #forget(document: Document, mirror: LiveMirror, why: string): Promise<void> {
    const { id, mirrorId, dir } = document;
    const at = this.#context.clock.now();
    const place = { mirrorId, dir };
    const changes: Change[] = [
      { type: "forget", id, at, why, restore: true, goneAt: at, from: ["held"], place },
      invalidateDirectory(mirrorId, dir),
    ];
    await this.#context.journal.apply(changes);
    await this.#unlearn(document, mirror);
  }

  async #note(document: Document, set: Note): Promise<void> {
    await this.#context.journal.apply(this.#noted(document, set));
  }

  #noted({ id, mirrorId, dir, state }: Document, set: Note): Change[] {
    const putOff = ["after-action put off", set.afterMessage].filter(Boolean).join(": ");
    const why = set.after === undefined ? putOff : `after-action ${set.after ?? "none"}`;
    const at = this.#context.clock.now();
    const left = set.goneAt == null ? [] : [invalidateDirectory(mirrorId, dir)];
    // Found elsewhere meanwhile, it is another daemon's to move or delete; edited after a veto, it is to be sent.
    return [...left, { type: "note", id, at, why, set, place: { mirrorId, dir }, from: [state] }];
  }
}
