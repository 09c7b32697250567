/**
 * Keeps the account's gate: closes it when the archive rejects the account, holds what waits behind
 * it so that every row says why, and lets it all go on once a probe got through.
 */
import { GATE_CODES } from "../domain/code-sets.ts";
import { ArchiveError } from "../archive/archive-error.ts";
import { backoffMs } from "../domain/backoff.ts";
import type { Document, Problem } from "../domain/document.ts";
import { failureOf, isKnown } from "../domain/failure.ts";
import * as gates from "../domain/gate.ts";
import type { Outcome } from "../domain/outcome.ts";
import { OF_ONE_REQUEST } from "../domain/lookup-failures.ts";
import type { ArchiveJournal, Change, Documents } from "../journal/journal.ts";
import type { ClaimedDocument, Claims } from "./claimer.ts";
import type { SyncContext } from "./context.ts";
import { HOLD } from "./waits.ts";
import { Probes } from "./probes.ts";
import { goOn, hasOwnProblem } from "./retry.ts";

/** Rows of one commit while the gate holds them or lets them go. */
const CHUNK = 500;

/** Documents that are tried for one probe at most. */
const PROBES_MAX = 50;

/** Documents in a row that may meet the same unknown code before it is taken for the account's. */
const REPEATS_MAX = 3;

/** The same while the gate is closed: a probe alone may have met a problem of its own. */
const PROBES_REPEAT_MAX = 2;

export class AccountGate {
  readonly #context: SyncContext<ArchiveJournal & Documents>;
  readonly #policy: gates.ProbePolicy;
  #gate: gates.Gate = gates.OPEN_GATE;
  #repeated: { code: string; ids: Set<number> } = { code: "", ids: new Set() };
  /** Since the gate was last touched, all that it held has been let go. */
  #released = false;
  readonly #probes: Probes;

  private constructor(
    context: SyncContext<ArchiveJournal & Documents>,
    scheduledAfter: gates.ProbePolicy["scheduledAfter"],
  ) {
    this.#context = context;
    this.#probes = new Probes(context);
    const { random, config } = context;
    this.#policy = { retry: config.quota.retry, random, scheduledAfter };
  }

  /** Reads the gate from the journal: it survives restarts, a spent allowance with its wait and all. */
  static async open(
    context: SyncContext<ArchiveJournal & Documents>,
    scheduledAfter: gates.ProbePolicy["scheduledAfter"],
  ): Promise<AccountGate> {
    const keeper = new AccountGate(context, scheduledAfter);
    await keeper.reread();
    if (context.ownership.account) await keeper.#askAgain();
    return keeper;
  }

  /** As it was last read or written here; another process may have changed it since (`reread`). */
  get gate(): gates.Gate {
    return this.#gate;
  }

  /** Another process may have asked for a probe now. */
  async reread(): Promise<void> {
    this.#gate = await this.#context.journal.gate();
    this.#released = false;
  }

  /** Milliseconds until the gate wants a probe; 0 when it is open or wants one now. */
  waitMs(now: number): number {
    if (!gates.isClosed(this.#gate)) return 0;
    return Math.max(0, (this.#gate.nextProbeAt ?? now) - now);
  }

  /** The account was refused. `probe`: by the one document that was let through. */
  async refused(problem: Problem, probe: boolean): Promise<void> {
    await this.#look();
    const now = this.#context.clock.now();
    const closed = gates.isClosed(this.#gate);
    const gate =
      closed && probe
        ? gates.probeRefused(this.#gate, problem, now, this.#policy)
        : gates.close(this.#gate, problem, now, this.#policy);
    if (gate === this.#gate) return;
    this.#probes.astray = false;
    await this.#set(gate);
    this.#context.log.warn(
      { code: problem.code, nextProbeAt: gate.nextProbeAt, probes: gate.probes },
      closed
        ? "the archive still refuses the account"
        : `sending stops: ${problem.message}. ${failureOf(problem.code).hint}`,
    );
  }

  /** Something was accepted: whatever is held behind the gate goes on. */
  async passed(): Promise<void> {
    this.#repeated = { code: "", ids: new Set() };
    if (gates.isClosed(this.#gate)) await this.#look();
    if (!gates.isClosed(this.#gate)) return;
    await this.#set(gates.open(this.#gate));
    this.#context.log.info({}, "the archive accepts documents again; sending continues");
    this.#context.wakeups.sending.notify();
  }

  /** A probe ended without an answer about the account: it is repeated with another document, but not at once. */
  async unanswered(): Promise<void> {
    this.#probes.astray = true;
    const now = this.#context.clock.now();
    if (!gates.mayProbe(this.#gate, now)) return;
    await this.#set(gates.probeUnanswered(this.#gate, now, this.#policy));
  }

  /**
   * A document was refused, or is in doubt. Where the code is one the interface does not name, and several
   * documents in a row met it, it is the account's problem and the gate closes. The one that is
   * refused for good ends that: the archive judges documents on their own. Of a spent allowance
   * it says nothing, since nobody knows which of the two an archive looks at first. What speaks of one
   * request, such as its size, says nothing of the account at all.
   */
  async met(document: Document, { code, message }: Problem, probe: boolean): Promise<void> {
    if (OF_ONE_REQUEST.includes(code)) return;
    // A code the interface names ends the row too: that document was judged on its own.
    if (this.#repeated.code !== code) this.#repeated = { code, ids: new Set() };
    if (isKnown(code)) {
      const isJudged =
        this.#gate.problem?.code === "SAME_CODE_REPEATS" && failureOf(code).fate === "fail";
      if (probe && isJudged) await this.passed();
      return;
    }
    const { ids } = this.#repeated;
    // One that probes with what it met before tells nothing new.
    if (probe && ids.has(document.id)) return;
    ids.add(document.id);
    if (ids.size < (probe ? PROBES_REPEAT_MAX : REPEATS_MAX)) return;
    const repeats = `document after document is refused with ${code}: ${message}`;
    await this.refused({ code: "SAME_CODE_REPEATS", message: repeats }, probe);
  }

  /**
   * While closed: holds the next rows that wait to be sent. While open: lets the next rows go that
   * it held. True when there may be more.
   */
  async sweep(): Promise<boolean> {
    if (gates.isClosed(this.#gate)) return this.#hold();
    this.#probes.forget();
    if (this.#released) return false;
    const gate = this.#gate;
    const more = await this.#release();
    this.#released = !more && this.#gate === gate;
    return more;
  }

  /**
   * Claims the document to probe with, the first that can be sent just now: one may have to wait for
   * another of its name or content, even for one that only a person can tell. Undefined when there is
   * none, which is no answer; `nothing` when nothing waits at all.
   */
  async probe(
    claim: (document: Document) => Promise<Claims>,
  ): Promise<ClaimedDocument | "nothing" | undefined> {
    for (let tries = 0; tries < PROBES_MAX; tries++) {
      const document = await this.#probes.next();
      if (!document && tries === 0) return "nothing";
      if (!document) break;
      const { claimed, problem } = await claim(document);
      if (claimed[0]) return claimed[0];
      if (problem) break;
    }
    await this.unanswered();
    return undefined;
  }

  /** True when an upload has to be the probe; refused credentials and another archive show at any question. */
  get probesByUpload(): boolean {
    return !gates.ASKED_FREE.includes(this.#gate.problem?.code ?? "");
  }

  /** Probes by a question that costs nothing. */
  async probeFree(signal: AbortSignal): Promise<void> {
    const answer = await this.#askFree(signal);
    if (answer === "accepted") await this.passed();
    else if (gates.ASKED_FREE.includes(answer.code)) await this.refused(answer, true);
    else await this.unanswered();
  }

  /**
   * What an upload came to that seems to say that the account is refused: that is believed where a
   * look-up is refused, too. Else it says something of that document, or of what stands before the archive.
   * What is in doubt stays so: an account may be closed with what was stored last.
   */
  async confirmed(outcome: Outcome, signal: AbortSignal): Promise<Outcome> {
    if (!("credentials" in outcome) || !outcome.credentials) return outcome;
    const problem = await this.#askFree(signal);
    if (problem === "accepted" || problem.code !== "CREDENTIALS_REFUSED") return outcome;
    if (outcome.kind === "refused") return { kind: "refused", problem, retryAfterMs: null };
    await this.refused(problem, false);
    return outcome;
  }

  async #askFree(signal: AbortSignal): Promise<Problem | "accepted"> {
    try {
      await this.#context.archive.folder(undefined, signal);
      return "accepted";
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      return error.problem;
    }
  }

  /**
   * Anyone who fixes the key or the secret starts again with it: that must not wait until the next
   * probe, perhaps for hours, as the question costs nothing.
   */
  async #askAgain(): Promise<void> {
    if (!gates.isClosed(this.#gate) || this.probesByUpload) return;
    await this.#set({ ...this.#gate, nextProbeAt: this.#context.clock.now() });
  }

  /** Another daemon may have closed it or opened it a moment ago. */
  async #look(): Promise<void> {
    if (this.#context.ownership.isShared) await this.reread();
  }

  async #set(gate: gates.Gate): Promise<void> {
    this.#gate = gate;
    this.#released = false;
    await this.#context.journal.setGate(gate);
  }

  async #hold(): Promise<boolean> {
    const { journal } = this.#context;
    // Rows that would be due later wait behind the gate all the same.
    const rows = await journal.due({
      state: "pending",
      now: Number.MAX_SAFE_INTEGER,
      limit: CHUNK,
    });
    if (rows.length === 0) return false;
    await journal.apply(rows.map((row) => this.#heldBack(row)));
    return rows.length === CHUNK;
  }

  /**
   * What has problem of its own keeps it, and its patience: behind the gate it would be tried again
   * with every probe, and be the one that probes.
   */
  #heldBack(row: Document): Change {
    const { clock, random } = this.#context;
    const at = clock.now();
    const { id } = row;
    const from = ["pending"] as const;
    if (row.problem && hasOwnProblem(row)) {
      this.#probes.spare(id);
      const dueAt = at + backoffMs(HOLD, row.consecutiveFailures + 1, random);
      return {
        type: "event",
        id,
        event: { type: "heldBack", at, dueAt, problem: row.problem },
        from,
      };
    }
    const problem = this.#gate.problem ?? { code: "QUOTA_LIMIT", message: "the gate is closed" };
    return { type: "event", id, event: { type: "heldBack", at, dueAt: null, problem }, from };
  }

  async #release(): Promise<boolean> {
    const { journal, clock } = this.#context;
    const rows = await journal.heldWith(GATE_CODES, CHUNK);
    if (rows.length === 0) return false;
    await journal.apply(rows.map((row) => goOn(row, clock.now())));
    return rows.length === CHUNK;
  }
}
