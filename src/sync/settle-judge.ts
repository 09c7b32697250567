/**
 * What a close look at files that are quiet changes: unchanged, whole and hashed, they are to be sent, unless their
 * bytes are in the archive already: a touched file, or one that was only renamed or moved. Decides for settling and
 * for `plan`, and journals nothing but what is learned of `settle`.
 */
import type { Document, Problem } from "../domain/document.ts";
import { isAskedFor, quietMsOf } from "../domain/settle.ts";
import type { Change } from "../journal/journal.ts";
import type { Inspection } from "../source/source.ts";
import { joinRaw } from "../std/raw-path.ts";
import { alreadySent, sentOften, type Settled } from "./already-sent.ts";
import { type Whole, judge, type Readying } from "./prepare.ts";
import type { BeforeHooks } from "./before-hooks.ts";
import { CloseLook } from "./close-look.ts";
import type { DecisionContext, LiveMirror } from "./context.ts";
import { invalidateDirectory } from "./changes.ts";
import { learn, type Suspect, suspectOf } from "./learned-settle.ts";
import type { QuietTime } from "./quiet-time.ts";
import { type Followed, recall } from "./former-places.ts";
import { COMPANION, HOLD } from "./waits.ts";

/** What is another file at each look, be it written to or on a share that dates it again, is not looked at all the time. */
const CHANGING_MS_MIN = 250;

/** Files of one look at most. */
export const LOOK_MAX = 64;

/** What of settling takes time, or acts: `plan` does without it, and takes `settle` as over. */
export type Patience = { readonly quietTime: QuietTime; readonly hooks: Pick<BeforeHooks, "ask"> };

/** What was found of a document, and what that changes; nothing where a hook is asked. */
export type Judged = {
  readonly document: Document;
  readonly found: Inspection;
  readonly changes: readonly Change[];
};

/** What is known of what was sent before a file that is looked at. */
type Before = Followed & {
  readonly suspect: Suspect | undefined;
  /** Contents that the journal may know something of. */
  readonly contents: ReadonlySet<string>;
};

/** What becomes of a revision that nobody saw whole. What was sent before it stays its path's. */
const REMOVED = "the file was removed before it was sent";

export class SettleJudge {
  readonly #context: DecisionContext;
  readonly #readying: Readying;
  readonly #look: CloseLook;
  readonly #patience: Patience | undefined;

  constructor(context: DecisionContext, readying: Readying, patience?: Patience) {
    this.#context = context;
    this.#readying = readying;
    this.#look = new CloseLook(context);
    this.#patience = patience;
  }

  /** Readers that end once `stopping` has aborted end of no file. */
  begin(stopping: AbortSignal): void {
    this.#look.begin(stopping);
  }

  /**
   * Looks at as many of the first ones as may be looked at together, and judges each; `LOOK_MAX` at a time: the reader
   * looks at the next while these are judged and journaled. Rejects with `ChannelClosed` when the reader is gone.
   */
  async *of(
    mirror: LiveMirror,
    due: readonly Document[],
    followed: Followed,
  ): AsyncGenerator<Judged[]> {
    const left = [...this.#look.together(mirror, due)];
    const next = () => this.#looked(mirror, left.splice(0, LOOK_MAX));
    for (let ahead = next(); (await ahead).length > 0; ) {
      const looked = await ahead;
      ahead = next();
      // It is awaited in its turn.
      ahead.catch(() => {});
      const whole = looked.flatMap(({ found }) => (found?.kind === "whole" ? [found] : []));
      const contents = await this.#context.journal.knownContents(
        whole.map(({ digest, seen: { sizeBytes } }) => ({ digest, sizeBytes })),
      );
      const judged: Judged[] = [];
      for (const { document, found, suspect } of looked) {
        if (!found) continue;
        const changes = await this.#judge(mirror, document, found, {
          ...followed,
          suspect,
          contents,
        });
        judged.push({ document, found, changes });
      }
      yield judged;
    }
  }

  async #looked(mirror: LiveMirror, documents: readonly Document[]) {
    if (documents.length === 0) return [];
    const suspects: (Suspect | undefined)[] = [];
    for (const document of documents)
      suspects.push(this.#patience && (await suspectOf(this.#context, mirror, document)));
    const sentBytes = suspects.map((suspect) => suspect?.document.seen.sizeBytes);
    // Counting costs as much as all else of a look. The archive counts anyway, so it is for an allowance and `plan`.
    const pages = !this.#patience || this.#context.config.quota.pages.monthlyPages !== undefined;
    const found = await this.#look.at(mirror, documents, { pages }, sentBytes);
    return documents.map((document, at) => ({ document, found: found[at], suspect: suspects[at] }));
  }

  async #judge(
    mirror: LiveMirror,
    document: Document,
    found: Inspection,
    before: Before,
  ): Promise<Change[]> {
    const at = this.#context.clock.now();
    const { id } = document;
    const from = ["settling"] as const;
    if (!document.current) {
      const why = "replaced by newer content before it could be sent";
      return [{ type: "forget", id, at, why, from }];
    }
    switch (found.kind) {
      case "gone":
        return [
          { type: "forget", id, at, why: REMOVED, restore: true, goneAt: at, from },
          invalidateDirectory(document.mirrorId, document.dir),
        ];
      case "unreadable":
        return [this.#readying.held(document, found.problem, HOLD)];
      case "waits":
        return this.#lacking(mirror, document, found.problem, before);
      case "changed": {
        const { settleMs } = mirror.settings;
        const dueAt = at + Math.max(settleMs, CHANGING_MS_MIN);
        const event = { type: "changed", at, dueAt, seen: found.seen, settleMs } as const;
        return [{ type: "event", id, event, from }];
      }
      case "whole":
        return this.#ripe(mirror, document, found, before);
    }
  }

  /**
   * What is to stand next to it is missing or broken, so that it was not read. It is, once, before it is held for
   * that: archived already, it waits for nothing.
   */
  async #lacking(
    mirror: LiveMirror,
    document: Document,
    problem: Problem,
    followed: Followed,
  ): Promise<Change[]> {
    const held = [this.#readying.held(document, problem, COMPANION)];
    if (document.problem?.code === problem.code) return held;
    const unsure = this.#onceMore(document, mirror.settings.settleMs);
    if (unsure) return [unsure];
    const [whole] = await this.#look.at(mirror, [document], { pages: false, alone: true });
    if (whole?.kind !== "whole") return held;
    const at = this.#context.clock.now();
    return (await this.#known({ mirror, document, whole, followed, at, isKnown: true })) ?? held;
  }

  async #ripe(
    mirror: LiveMirror,
    document: Document,
    found: Whole,
    before: Before,
  ): Promise<Change[]> {
    const { settleMs } = mirror.settings;
    const at = this.#context.clock.now();
    const skipped = this.#patience?.quietTime.look() ?? [];
    const unsure = this.#onceMore(document, settleMs);
    if (unsure) return [unsure];
    const suspect = found.completeness === "unfinished" ? undefined : before.suspect;
    if (suspect && (await learn(this.#context, mirror, suspect, found))) {
      const notYet = this.#onceMore(document, mirror.settings.settleMs);
      if (notYet) return [notYet];
    }
    // The rules are for what is to be sent: archived already, it may lack what they ask for by now.
    const isKnown = before.contents.has(found.digest);
    const file = { mirror, document, whole: found, followed: before, at, isKnown };
    const known = await this.#known(file);
    if (known) return known;
    const { changedAt } = document;
    const standing = { now: at, changedAt, anyway: isAskedFor(document), skipped };
    const ripe = judge(mirror.settings, found, standing);
    if (ripe.kind === "unfit") return [this.#readying.held(document, ripe.problem, null)];
    if (ripe.kind === "wait") {
      const { dueAt, problem } = ripe;
      const event = { type: "unfinished", at, dueAt, problem } as const;
      return [{ type: "event", id: document.id, event, from: ["settling"] }];
    }
    return (
      (await sentOften(this.#context, file)) ??
      (ripe.kind === "held"
        ? [this.#readying.held(document, ripe.problem, null)]
        : this.#ready(mirror, document, found, ripe.remark))
    );
  }

  /** Another look, where it was not quiet for long enough. */
  #onceMore(document: Document, settleMs: number): Change | undefined {
    return this.#patience?.quietTime.onceMore(document, quietMsOf(document, settleMs));
  }

  /** Decided at once; or a hook is asked, which takes its time next to all this. */
  async #ready(
    mirror: LiveMirror,
    document: Document,
    found: Whole,
    remark: string | null,
  ): Promise<Change[]> {
    const hook = mirror.settings.hooks?.before;
    if (!hook || !this.#patience)
      return this.#readying.settled(mirror, document, found, { remark });
    const path = joinRaw(document.dir, document.name);
    this.#patience.hooks.ask({ mirror, hook, document, path, found, remark });
    return [];
  }

  /** What becomes of bytes that are in the archive, or are left alone; undefined: they are to be sent. */
  async #known(file: Settled): Promise<Change[] | undefined> {
    return (await alreadySent(this.#context, file)) ?? this.#recalled(file);
  }

  /** A file that was sent so long ago that its row was dropped: the archive is asked about it again. */
  async #recalled({
    mirror,
    document,
    whole,
    followed,
    at,
    isKnown,
  }: Settled): Promise<Change[] | undefined> {
    if (!isKnown) return undefined;
    const known = await recall(this.#context.journal, document, whole, followed);
    if (!known) return undefined;
    const sentBytes = whole.seen.sizeBytes;
    const event = { type: "adopted", at, dueAt: at, status: null, sentBytes, ...known } as const;
    const settled = await this.#readying.known(mirror, document, whole);
    // Who settles another part of the mirror may have found the same bytes there.
    const adopted = { type: "event", id: document.id, event, from: ["pending"] } as const;
    return [...settled, { ...adopted, unclaimed: true }];
  }
}
