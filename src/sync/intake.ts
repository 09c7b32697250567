/**
 * Intake: what the readers see becomes rows. Listings are whole directories and tell what is gone
 * too; hints are single files. Both lead to the same few changes.
 */
import { compare, type ListingDifference } from "../domain/reconcile.ts";
import { type Document, type Seen, SENT_STATES } from "../domain/document.ts";
import { COMPANION_CODES } from "../domain/code-sets.ts";
import type { Applied, Change, Documents, FileIndex, Known, RowPlace } from "../journal/journal.ts";
import type { FileSeen, Listing } from "../source/source.ts";
import { WorkShare } from "../std/work-share.ts";
import { invariant } from "../std/fault.ts";
import { ROOT, type RawPath, dirOf, joinRaw, nameOf } from "../std/raw-path.ts";
import { GONE_ALREADY } from "./after-loop.ts";
import type { LiveMirror, DecisionContext } from "./context.ts";
import { Window } from "../std/window.ts";
import { invalidateDirectory } from "./changes.ts";
import { AfterActions } from "./after-actions.ts";
import { type Overlap, Overlaps } from "./overlaps.ts";
import type { QueueState } from "./send-queue.ts";
import { INTAKE_REST } from "./waits.ts";

/** Changes of one write, and of those that may share a commit; a directory of 100,000 files must not keep others waiting. */
const CHANGES_MAX = 200;
const AHEAD_MAX = 3 * CHANGES_MAX;

/** How often a comparison that came too late is made again. */
const TRIES = 3;

type FileNow = { readonly path: RawPath; readonly seen: Seen | null };

export class Intake {
  readonly #context: DecisionContext<Documents & FileIndex>;
  readonly #afterActions: AfterActions;
  readonly #stream: Pick<QueueState, "isStreaming"> | undefined;
  readonly #overlaps = new Overlaps();

  /** A drop of thousands gives way to `stream`, in which the first of them leave. */
  constructor(
    context: DecisionContext<Documents & FileIndex>,
    afterActions = new AfterActions(),
    stream?: Pick<QueueState, "isStreaming">,
  ) {
    this.#context = context;
    this.#afterActions = afterActions;
    this.#stream = stream;
  }

  /** Journals a directory's listing; its fingerprint is remembered only if nothing was skipped, and no hint came between. */
  listing(mirrorId: number, listing: Listing): Promise<boolean> {
    return this.#overlaps.listing(mirrorId, listing.dir, (own) =>
      this.#givingWay(() => this.#listing(mirrorId, listing, own)),
    );
  }

  async #listing(mirrorId: number, listing: Listing, own: Overlap): Promise<boolean> {
    const { journal } = this.#context;
    const { dir, fingerprint, files, isPartial = false } = listing;
    const mirror = this.#mirror(mirrorId);
    let isSure = true;
    const isWhole = await this.#journaled(async () => {
      const found = compare(await journal.rowsIn(mirrorId, dir), files);
      const vanished = isPartial ? [] : this.#notInHand(mirrorId, dir, found.vanished);
      isSure = isPartial || vanished.length === found.vanished.length;
      return [
        ...(vanished.length > 0 ? [invalidateDirectory(mirrorId, dir)] : []),
        ...(await this.arrivals(mirror, dir, found)),
        ...(await this.#back(found.returned, mirror)),
        ...(await this.#gone(vanished, { mirrorId, dir })),
      ];
    });
    // Without a fingerprint the next scan looks again. One of a partial listing is the reader's alone.
    const isTrue = isWhole && isSure && !own.isDisturbed;
    const known = isTrue && !isPartial ? fingerprint : null;
    await journal.apply([{ type: "directory", mirrorId, dir, fingerprint: known }]);
    return isTrue;
  }

  /** What files of a directory change that are seen for the first time, or with another stamp. */
  async arrivals(
    mirror: LiveMirror,
    dir: RawPath,
    { appeared, changed }: Pick<ListingDifference<Known>, "appeared" | "changed">,
  ): Promise<Change[]> {
    const added = appeared.map((file) => this.#added(mirror, dir, file, null));
    return [...added, ...(await this.#changes(mirror, dir, changed))];
  }

  /** Journals single files as they are now; null: not there. */
  async hint(mirrorId: number, files: readonly FileNow[]): Promise<void> {
    const mirror = this.#mirror(mirrorId);
    await this.#overlaps.hint(mirrorId, files, () =>
      this.#givingWay(() => this.#journaled(() => this.#hinted(mirror, files))),
    );
  }

  /** Readers tell more once they are answered: anyone who answers late keeps them from all of the time there is. */
  async #givingWay<T>(taken: () => Promise<T>): Promise<T> {
    const { clock } = this.#context;
    // Each caller waits for what it brought itself.
    const intake = new WorkShare(clock, INTAKE_REST);
    const result = await intake.work(taken);
    const { restMs } = intake;
    if (restMs >= 1 && this.#stream?.isStreaming)
      await new Promise<void>((resolve) => clock.alarm(restMs, resolve));
    return result;
  }

  async #hinted(mirror: LiveMirror, files: readonly FileNow[]): Promise<Change[]> {
    const { journal } = this.#context;
    const mirrorId = mirror.row.id;
    const changes: Change[] = [];
    const touched = new Set<RawPath>();
    for (const { path, seen } of files) {
      const dir = dirOf(path);
      const row = await journal.currentAt(mirrorId, path);
      if (!row) {
        if (seen) {
          changes.push(this.#added(mirror, dir, { name: nameOf(path), seen }, null));
          touched.add(dir);
        }
        continue;
      }
      const known: Known = { ...row, stamp: row.seen.stamp };
      const found = compare([known], seen ? [{ name: row.name, seen }] : []);
      const before = changes.length;
      changes.push(
        ...(await this.#changes(mirror, dir, found.changed)),
        ...(await this.#back(found.returned, mirror)),
        ...(await this.#gone(this.#notInHand(mirrorId, dir, found.vanished), { mirrorId, dir })),
      );
      if (changes.length > before) touched.add(dir);
      if (found.changed.length === 0 && seen) changes.push(...this.#nudged(row, mirror));
    }
    return [...[...touched].map((dir) => invalidateDirectory(mirrorId, dir)), ...changes];
  }

  /** Directories that are not there any more: everything below them is gone. */
  async vanished(mirrorId: number, dirs: readonly RawPath[]): Promise<void> {
    const { journal } = this.#context;
    for (const [top, all] of treesOf(dirs)) {
      const again = all.map((dir) => invalidateDirectory(mirrorId, dir));
      await this.#journaled(async () => {
        const rows = await journal.rowsBelow(mirrorId, top);
        const there = rows.filter(({ goneAt }) => goneAt === null);
        const gone = await this.#gone(there, { mirrorId, dir: top, below: true });
        return [...again, ...gone];
      });
      // One of them may be back, and been listed between two of those commits.
      await journal.apply(again);
    }
  }

  #mirror(mirrorId: number): LiveMirror {
    const mirror = this.#context.mirrors.get(mirrorId);
    invariant(mirror, `no mirror ${mirrorId}`);
    return mirror;
  }

  #added(mirror: LiveMirror, dir: RawPath, file: FileSeen, supersedes: number | null): Change {
    const at = this.#context.clock.now();
    return {
      type: "add",
      document: {
        mirrorId: mirror.row.id,
        dir,
        name: file.name,
        seen: file.seen,
        at,
        dueAt: at + mirror.settings.settleMs,
        supersedes,
      },
    };
  }

  /** Other bytes, perhaps: a row that was never sent starts over; one that was gets a successor. */
  async #changes(
    mirror: LiveMirror,
    dir: RawPath,
    changed: readonly { row: Known; seen: Seen }[],
  ): Promise<Change[]> {
    const changes: Change[] = [];
    for (const { row, seen } of changed) {
      if (await this.#isKept(row)) {
        changes.push(this.#added(mirror, dir, { name: row.name, seen }, row.id));
        continue;
      }
      const at = this.#context.clock.now();
      const { settleMs } = mirror.settings;
      const event = { type: "changed", at, dueAt: at + settleMs, seen, settleMs } as const;
      changes.push({ type: "event", id: row.id, event, from: [row.state] });
    }
    return changes;
  }

  /** What it waits for next to it may have been written: it is looked at as soon as that is quiet. */
  #nudged({ id, state, problem, dueAt }: Document, mirror: LiveMirror): Change[] {
    if (state !== "held" || !COMPANION_CODES.includes(problem?.code ?? "")) return [];
    const at = this.#context.clock.now();
    const soon = at + mirror.settings.settleMs;
    if (dueAt !== null && dueAt <= soon) return [];
    const why = "something was written next to it";
    return [{ type: "note", id, at, why, set: { dueAt: soon }, from: [state] }];
  }

  async #back(rows: readonly Known[], { settings }: LiveMirror): Promise<Change[]> {
    const at = this.#context.clock.now();
    const mayGo = settings.after.kind !== "keep";
    const changes: Change[] = [];
    for (const { id, state } of rows) {
      const isToGo = mayGo && state === "converted" && (await this.#wasAfterAction(id));
      const due = { after: "due", afterMessage: null, dueAt: at } as const;
      const set = { goneAt: null, ...(isToGo && due) };
      changes.push({ type: "note", id, at, why: "the file is back", set, from: [state] });
    }
    return changes;
  }

  /** Or was out of sight when it was to be: then, too, it is moved or deleted once it is there. */
  async #wasAfterAction(id: number): Promise<boolean> {
    const { after, afterMessage } = (await this.#context.journal.document(id)) ?? {};
    return after === "done" || afterMessage === GONE_ALREADY;
  }

  /** What an after-action has in hand is not under its name for a while; it tells itself what became of it. */
  #notInHand(mirrorId: number, dir: RawPath, rows: readonly Known[]): readonly Known[] {
    return rows.filter(({ name }) => !this.#afterActions.has(mirrorId, joinRaw(dir, name)));
  }

  /**
   * Never sent: forgotten, with the reason in its history. Sent: only noted. Not what another daemon, to
   * which the place is where it was moved to, has found there meanwhile.
   */
  async #gone(rows: readonly Known[], place: RowPlace): Promise<Change[]> {
    const at = this.#context.clock.now();
    const changes: Change[] = [];
    for (const { id, ...row } of rows) {
      changes.push(
        (await this.#isKept({ id, ...row }))
          ? { type: "note", id, at, why: "file gone or left out", set: { goneAt: at }, place }
          : {
              type: "forget",
              id,
              at,
              why: "the file was removed or left out before it was sent",
              // What was sent before it must be found when the same bytes come back.
              restore: true,
              goneAt: at,
              from: [row.state],
              place,
            },
      );
    }
    return changes;
  }

  /** True when the archive has, or may have, this row's bytes: it is never used again for others. */
  async #isKept(row: Known): Promise<boolean> {
    if (SENT_STATES.includes(row.state) || row.documentId !== null) return true;
    if (row.state !== "held") return false;
    // Held while in doubt: what was sent may still turn up.
    return (await this.#context.journal.document(row.id))?.doubtAt != null;
  }

  /** Compares and writes, again where a row had moved on in between; false when rows move faster than that. */
  async #journaled(compared: () => Promise<Change[]>): Promise<boolean> {
    for (let tries = 0; tries < TRIES; tries++) {
      const applied = await this.#applied(await compared());
      if (!applied.some(({ skipped }) => skipped)) return true;
    }
    return false;
  }

  async #applied(changes: readonly Change[]): Promise<Applied[]> {
    const applied: Applied[] = [];
    const ahead = new Window(AHEAD_MAX);
    for (let at = 0; at < changes.length; at += CHANGES_MAX) {
      const some = changes.slice(at, at + CHANGES_MAX);
      // No row is changed before the directory is to be listed again, whatever becomes of either write.
      const weight = some.some(({ type }) => type === "directory") ? AHEAD_MAX : some.length;
      await ahead.add(weight, async () => {
        applied.push(...(await this.#context.journal.apply(some)));
      });
    }
    await ahead.drain();
    return applied;
  }
}

/** Directories, each with the highest one above it that is among them. */
function treesOf(dirs: readonly RawPath[]): Map<RawPath, RawPath[]> {
  const all = new Set(dirs);
  return Map.groupBy(dirs, (dir) => {
    let top = dir;
    for (let at = dir; at !== ROOT; ) {
      at = dirOf(at);
      if (all.has(at)) top = at;
    }
    return top;
  });
}
