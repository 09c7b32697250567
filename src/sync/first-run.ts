/**
 * The first run over a mirror: its journal knows nothing, be it new or lost, and the archive may
 * hold the files already. What has the name of a document there that is nobody's waits until a
 * person has chosen; sent twice cannot be fixed.
 *
 * On any other run the journal may have been taken back to an earlier state, and knows less than the archive: then
 * that guards what is new since, as far as the archive shows that it may have been sent (`LaterUploads`).
 */
import type { ArchiveJournal, Documents, Reports } from "../journal/journal.ts";
import { isAsNew } from "../domain/adopt.ts";
import { ASKED_CODES } from "../domain/lost-replies.ts";
import type { Document, State } from "../domain/document.ts";
import { ASKED_AS_NEW, READY_CODES } from "./adopter.ts";
import type { DecisionContext } from "./context.ts";
import { Wakeup } from "../std/wakeup.ts";
import { LaterUploads } from "./later-uploads.ts";
import { MAX_SLEEP_MS } from "./loop.ts";
import { ReadingNote } from "./reading-note.ts";
import { goOn } from "./retry.ts";
import { type Objection, SendGuard } from "./send-guard.ts";
import { unaskedText } from "./whole-archive.ts";

/** What it uses of the journal. */
type Roles = ArchiveJournal & Documents & Reports;

/** What is said meanwhile: a large archive takes minutes. */
const READING = "reading the list of all documents in the archive; sending continues after that";

/** What is written in such a time is looked at together. */
const GATHER_MS = 1_000;

/** A host whose clock went on this much without it was asleep, or is a snapshot that was resumed. */
const ASLEEP_MS = 30_000;

/** States of rows that may still turn out to be in the archive, or on their way there. */
const OPEN_STATES: readonly State[] = ["settling", "pending", "uploading", "inDoubt"];

export class FirstRun {
  readonly #context: DecisionContext<Roles>;
  /** Mirrors whose first run is not over. */
  readonly #mirrors: Set<number>;
  readonly #scanned: (mirrorId: number) => Promise<boolean>;
  /** On a first run, and on any other. */
  readonly #first: SendGuard;
  readonly #later: SendGuard;
  /** What could not be asked, as it was last told. */
  #told: string | null = null;
  /** The wall clock minus the monotonic one, as it was last looked at. */
  #clockOffset: number;
  readonly #wakeup = new Wakeup();

  private constructor(
    context: DecisionContext<Roles>,
    mirrors: Set<number>,
    scanned: (mirrorId: number) => Promise<boolean>,
    remembers: boolean,
  ) {
    this.#context = context;
    const { archive, journal, clock, config, log } = context;
    const { storedSize, name } = config.archive;
    const note = new ReadingNote(journal, clock, (read) =>
      log.info({ archive: name, ...read }, READING),
    );
    const asking = { storedSize, ...(remembers && { clock, note }) };
    this.#first = new SendGuard(archive, journal, asking);
    const { toleranceMs } = config.upload.doubt;
    const known = { archive, journal, clock, toleranceMs, remembers };
    const later = new LaterUploads(remembers ? { ...known, note } : known);
    this.#later = new SendGuard(archive, journal, { later, ...asking });
    this.#clockOffset = clock.now() - clock.monotonic();
    this.#mirrors = mirrors;
    this.#scanned = scanned;
  }

  /**
   * `scanned` tells whether a mirror was scanned to its end since the start. Where `firstRun: upload`
   * was chosen, the first run is over and what it held goes on.
   */
  static async open(
    context: DecisionContext<Roles>,
    scanned: (mirrorId: number) => Promise<boolean>,
  ): Promise<FirstRun> {
    const { journal, mirrors, clock } = context;
    const inFirstRun = new Set<number>();
    for (const id of await journal.firstRuns()) {
      const mirror = mirrors.get(id);
      if (mirror?.settings.firstRun === "hold") inFirstRun.add(id);
      if (mirror?.settings.firstRun === "upload") await journal.endFirstRun(id, clock.now());
    }
    const firstRun = new FirstRun(context, inFirstRun, scanned, true);
    const { ownership } = context;
    for (const id of mirrors.keys()) if (ownership.owns(id)) await firstRun.release(id);
    return firstRun;
  }

  /** For `plan`: objects as a run would, and neither ends nor remembers anything. `mirrors`: those of a first run. */
  static planned(context: DecisionContext<Roles>, mirrors: Set<number>): FirstRun {
    return new FirstRun(context, mirrors, async () => false, false);
  }

  /** Why not all of the archive could be searched for what is filed elsewhere; see `WholeArchive.unasked`. */
  get unasked(): string | null {
    return this.#first.unasked ?? this.#later.unasked;
  }

  /** Another daemon may have ended the first run of a mirror that it leads. */
  async reread(): Promise<void> {
    if (this.#mirrors.size === 0) return;
    const open = new Set(await this.#context.journal.firstRuns());
    for (const id of this.#mirrors) if (!open.has(id)) this.#mirrors.delete(id);
    if (this.#mirrors.size === 0) this.#first.forget();
  }

  /** The archive may hold the mirror's files already. */
  isOpen(mirrorId: number): boolean {
    return this.#mirrors.has(mirrorId);
  }

  /** Why this document must not be sent into this folder; see `SendGuard.objection`. */
  async objection(
    document: Document,
    folderId: number,
    signal: AbortSignal,
  ): Promise<Objection | undefined> {
    const { mirrorId, sentName, seen, problem } = document;
    const guard = this.#guardOf(mirrorId);
    const since = isAsNew(document) ? await this.#askedAt(document) : undefined;
    // What a person had sent again after looking for it may have come late.
    const isAsked = ASKED_CODES.includes(problem?.code ?? "");
    if (since === undefined && guard === this.#later && isAsked) return undefined;
    const outgoing = { sentName: sentName ?? "", sizeBytes: seen.sizeBytes, folderId, since };
    const mirrorIds = [...this.#context.mirrors.keys()];
    const objection = await guard?.objection(outgoing, mirrorIds, signal);
    const unasked = guard?.unasked ?? null;
    if (unasked === null || unasked === this.#told) return objection;
    this.#told = unasked;
    const { log, config } = this.#context;
    log.warn({ archive: config.archive.name }, unaskedText(unasked));
    return objection;
  }

  /** When a user had it sent as new, by the archive's clock: what came since may be it, of a journal that was taken back. */
  async #askedAt({ id }: Document): Promise<number> {
    const { journal, archive, config } = this.#context;
    const asked = (await journal.history(id)).findLast(({ detail }) => detail === ASKED_AS_NEW);
    const tolerance = config.upload.doubt.toleranceMs;
    return (asked?.at ?? Number.POSITIVE_INFINITY) + (archive.clockOffsetMs ?? 0) - tolerance;
  }

  /** An `objection` to a document of this mirror, in this folder, will be asked for. */
  foresee(mirrorId: number, folderId: number, signal: AbortSignal): void {
    this.#guardOf(mirrorId)?.foresee(folderId, signal);
  }

  /** Where `firstRun: upload` was chosen, whatever is there is sent. */
  #guardOf(mirrorId: number): SendGuard | undefined {
    if (this.isOpen(mirrorId)) return this.#first;
    if (this.#context.mirrors.get(mirrorId)?.settings.firstRun !== "hold") return undefined;
    const { clock } = this.#context;
    const offset = clock.now() - clock.monotonic();
    // A machine that is taken back with its memory goes on where it was, but for its clock.
    if (Math.abs(offset - this.#clockOffset) >= ASLEEP_MS) this.#later.forget();
    this.#clockOffset = offset;
    return this.#later;
  }

  /** Something has changed: a first run may be over. */
  notify(): void {
    this.#wakeup.notify();
  }

  /** Looks until every first run is over. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    while (this.#mirrors.size > 0) {
      await this.#wakeup.wait(MAX_SLEEP_MS, clock, signal);
      await clock.sleep(GATHER_MS, signal);
      await this.conclude();
    }
  }

  /**
   * Ends the first run of every mirror of which something is archived, and nothing is left to be
   * told apart.
   */
  async conclude(): Promise<void> {
    const { journal, clock, mirrors } = this.#context;
    for (const id of this.#mirrors) {
      const mirror = mirrors.get(id);
      if (!mirror || !(await this.#isOver(id))) continue;
      this.#mirrors.delete(id);
      await journal.endFirstRun(id, clock.now());
    }
    if (this.#mirrors.size === 0) this.#first.forget();
  }

  async #isOver(mirrorId: number): Promise<boolean> {
    if (!(await this.#scanned(mirrorId))) return false;
    const { journal } = this.#context;
    const now = Number.MAX_SAFE_INTEGER;
    // Counting a large journal takes a moment; most looks end here.
    for (const state of ["settling", "pending"] as const) {
      if ((await journal.due({ state, mirrorId, now, limit: 1 })).length > 0) return false;
    }
    const counts = (await journal.counts()).filter((count) => count.mirrorId === mirrorId);
    if (counts.some(({ state }) => OPEN_STATES.includes(state))) return false;
    let unseen = counts.find(({ state }) => state === "held")?.documents ?? 0;
    for await (const row of journal.list({ mirrorId, state: "held" })) {
      if (isYetToBeAsked(row)) return false;
      unseen -= 1;
    }
    // One that was held a moment ago is just looked at again.
    if (unseen !== 0) return false;
    return counts.some(({ state }) => state === "uploaded" || state === "converted");
  }

  async #held(mirrorId: number): Promise<Document[]> {
    const rows = await this.#context.journal.heldWith(["FIRST_RUN"], Number.MAX_SAFE_INTEGER);
    return rows.filter((row) => row.mirrorId === mirrorId);
  }

  /** Where `firstRun: upload` was chosen, what the first run held goes on. */
  async release(mirrorId: number): Promise<void> {
    const { journal, clock, mirrors } = this.#context;
    if (mirrors.get(mirrorId)?.settings.firstRun !== "upload") return;
    const held = await this.#held(mirrorId);
    await journal.apply(held.map((row) => goOn(row, clock.now())));
  }
}

/**
 * A person is to tell it apart, or nobody has looked for it in the archive yet: it may be sent as it is once its time has
 * come, the account's gate opens, or its folder is there.
 */
function isYetToBeAsked({ dueAt, problem }: Document): boolean {
  return dueAt !== null || READY_CODES.includes(problem?.code ?? "");
}
