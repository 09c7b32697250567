/**
 * What a run would do, found out without doing it: the source is scanned as if nothing were known, and what intake,
 * settling and sending decide of each file is printed instead of journaled. `settle` is taken as over, no hook
 * is asked, nothing is written and nothing is sent.
 */
import { ArchiveError } from "../../archive/archive-error.ts";
import { FOLDER_CODES, RULE_CODES } from "../../domain/code-sets.ts";
import { compare } from "../../domain/reconcile.ts";
import { type Document, SENT_STATES } from "../../domain/document.ts";
import { type Event, transition } from "../../domain/life.ts";
import { sentNameOf, targetPathOf } from "../../domain/naming.ts";
import type { Change } from "../../journal/journal.ts";
import { firstRevision } from "../../journal/revision.ts";
import type { Inspection, Listing } from "../../source/source.ts";
import { dirOf, joinRaw, nameOf, type RawPath, shown } from "../../std/raw-path.ts";
import { type ClaimDecision, Claimer } from "../../sync/claimer.ts";
import type { DecisionContext, LiveMirror } from "../../sync/context.ts";
import { mayBeDecidedAgain } from "../../sync/decided-again.ts";
import { Intake } from "../../sync/intake.ts";
import { Readying } from "../../sync/prepare.ts";
import type { Followed } from "../../sync/former-places.ts";
import { goOn } from "../../sync/retry.ts";
import { type Judged, SettleJudge } from "../../sync/settle-judge.ts";
import { expiresOf } from "../trial.ts";
import type { Destinations } from "./destinations.ts";
import { journaled, type LineFields, type PlanLine } from "./plan-line.ts";

const WRITTEN_TO = { code: "FILE_CHANGED", message: "a program is writing to it" };

/** What the plans of an archive's mirrors share: what the journal would learn of one is known to the next. */
export type PlannedArchive = {
  readonly context: DecisionContext;
  readonly destinations: Destinations;
  readonly followed: Followed;
};

/** The plan of one mirror. `emit` is waited for, so that no lines pile up. */
export type PlannerOptions = PlannedArchive & {
  readonly mirror: LiveMirror;
  /** What waits was decided by other settings than the mirror has now. */
  readonly isDecidedOtherwise: boolean;
  readonly signal: AbortSignal;
  readonly emit: (line: PlanLine) => Promise<void>;
};

/** Plans one mirror, directory by directory. */
export class Planner {
  readonly #options: PlannerOptions;
  readonly #intake: Intake;
  readonly #judge: SettleJudge;
  readonly #claimer: Claimer;
  /** Names and contents that are planned to be sent, as `Claimer` notes them. */
  readonly #taken = new Set<string>();
  /** The first file with a content that is to be sent. */
  readonly #firsts = new Map<string, RawPath>();
  #archived = 0;
  /** Of rows that the journal does not have. */
  #lastId = 0;
  /** One directory after another: what is decided of a file may depend on those before it. */
  #planning: Promise<void> = Promise.resolve();

  constructor(options: PlannerOptions) {
    const { context, destinations } = options;
    this.#options = options;
    this.#intake = new Intake(context);
    this.#judge = new SettleJudge(context, new Readying(context));
    this.#claimer = new Claimer(context, destinations.placement, destinations.firstRun);
  }

  /** Files whose content the archive has, or is getting, already. */
  get archived(): number {
    return this.#archived;
  }

  /** Plans the files of one directory. */
  listing(listing: Listing): Promise<void> {
    this.#planning = this.#planning.then(() => this.#listing(listing));
    return this.#planning;
  }

  async #listing({ dir, files }: Listing): Promise<void> {
    const { context, mirror } = this.#options;
    const rows = await context.journal.rowsIn(mirror.row.id, dir);
    const arrivals = await this.#intake.arrivals(mirror, dir, compare(rows, files));
    const due: Document[] = [];
    for (const change of arrivals) due.push(...(await this.#arrived(change)));
    const arrived = new Set(due.map(({ name }) => name));
    const known = new Map(rows.map((row) => [row.name, row]));
    for (const { name } of files) {
      const row = arrived.has(name) ? undefined : known.get(name);
      if (!row) continue;
      if (SENT_STATES.includes(row.state)) this.#archived += 1;
      else due.push(...(await this.#asItStands(row.id)));
    }
    await this.#settle(due);
  }

  /** The row that a file has once it is seen. */
  async #arrived(change: Change): Promise<Document[]> {
    if (change.type === "add") return [firstRevision(--this.#lastId, change.document)];
    if (change.type !== "event") return [];
    const row = await this.#options.context.journal.document(change.id);
    return row ? [after(row, change.event)] : [];
  }

  /** What becomes of a row whose file is as it was: itself where it is to be looked at, or a line. */
  async #asItStands(id: number): Promise<Document[]> {
    const { context, isDecidedOtherwise } = this.#options;
    const at = context.clock.now();
    let row = await context.journal.document(id);
    if (!row) return [];
    if (isDecidedOtherwise && mayBeDecidedAgain(row)) row = after(row, { type: "recheck", at });
    else if (row.state === "held" && this.#mayGoOn(row, at)) {
      const change = goOn(row, at);
      const next = change.type === "event" ? after(row, change.event) : row;
      // What is in doubt is looked for in the archive, which a plan does not wait for.
      if (next.state !== "inDoubt") row = next;
    }
    if (row.state === "settling") return [row];
    if (row.state === "pending") await this.#claim(row);
    else await this.#emit(row, { action: "hold", ...(await this.#journaled(row)) });
    return [];
  }

  /** What it waits for may be over: a time, a folder, other rules, a person's choice for the first run. */
  #mayGoOn({ problem, dueAt }: Document, now: number): boolean {
    if (!problem || (dueAt !== null && dueAt <= now)) return true;
    const { code } = problem;
    if (code === "FIRST_RUN") return this.#options.mirror.settings.firstRun === "upload";
    return FOLDER_CODES.includes(code) || RULE_CODES.includes(code);
  }

  async #settle(due: readonly Document[]): Promise<void> {
    const { mirror, followed } = this.#options;
    for await (const judged of this.#judge.of(mirror, due, followed)) {
      for (const each of judged) {
        // The row before it was found to be another file's: it has none before it any more.
        const { supersedes } = each.document;
        const isAlone = supersedes !== null && followed.rows.has(supersedes) && isPutOff(each);
        if (isAlone) await this.#settle([{ ...each.document, supersedes: null }]);
        else await this.#settled(each);
      }
    }
  }

  async #settled({ document, found, changes }: Judged): Promise<void> {
    const events = changes.flatMap((change) =>
      change.type === "event" && change.id === document.id ? [change.event] : [],
    );
    const event = events[0];
    const fields = contentOf(found);
    switch (event?.type) {
      case undefined:
        if (found.kind !== "gone") this.#archived += 1;
        return;
      case "heldBack":
        return this.#emit(document, { ...fields, action: "hold", problem: event.problem });
      case "unfinished":
        return this.#emit(document, { ...fields, action: "wait", problem: event.problem });
      case "settled":
        if (events.length > 1) this.#archived += 1;
        else await this.#claim(after(document, event), found);
        return;
      default:
        return this.#emit(document, { action: "wait", problem: WRITTEN_TO });
    }
  }

  async #claim(document: Document, found?: Inspection): Promise<void> {
    const { destinations, mirror, signal } = this.#options;
    const isCounted = found?.kind === "whole" && found.isUncounted !== true;
    const fields = isCounted ? journaled(document) : await this.#journaled(document);
    const path = joinRaw(document.dir, document.name);
    const target = document.targetPath ?? "/";
    let decision: ClaimDecision | undefined;
    let folder: string | null = null;
    try {
      decision = await this.#claimer.decide(document, mirror, this.#taken, signal);
      if (decision.folderId !== undefined)
        folder = await destinations.pathOf(decision.folderId, target, mirror, signal);
      else if (decision.kind === "hold" && decision.problem.code === "FOLDER_MISSING")
        await destinations.order(target, signal);
    } catch (error) {
      signal.throwIfAborted();
      // It is sent, wherever the archive cannot say now.
      if (!(error instanceof ArchiveError)) throw error;
      destinations.met(error);
    }
    const going = { ...fields, folderId: decision?.folderId ?? null, folder, problem: null };
    if (decision?.kind === "hold")
      return this.#emit(document, { ...going, action: "hold", problem: decision.problem });
    const digest = document.digest ?? "";
    if (decision?.kind === "later" && decision.isDuplicate) {
      const remark = `${this.#original(digest, decision.change)}; \`duplicates\` says not to send it`;
      return this.#emit(document, { ...going, action: "skip", remark });
    }
    if (!this.#firsts.has(digest)) this.#firsts.set(digest, path);
    return this.#emit(document, { ...going, action: "send" });
  }

  /** What a duplicate is one of. */
  #original(digest: string, change: Change): string {
    const first = this.#firsts.get(digest);
    if (first !== undefined) return `the same content as ${shown(first)}`;
    if (change.type === "note") return change.why;
    if (change.type !== "event" || change.event.type !== "duplicated") return "";
    return change.event.remark.replace("; not sent", "");
  }

  /** What the row says of it; pages are counted only where they are asked for, as here. */
  async #journaled(document: Document): Promise<Omit<LineFields, "action">> {
    const fields = journaled(document);
    if (fields.pages !== null) return fields;
    const { reader, row } = this.#options.mirror;
    const asked = [{ path: joinRaw(document.dir, document.name), seen: document.seen }];
    const [found] = await reader.inspect(row.id, asked, { pages: true, alone: true });
    return { ...fields, pages: found?.kind === "whole" ? (found.pages ?? null) : null };
  }

  async #emit({ dir, name, seen }: Document, fields: LineFields): Promise<void> {
    const { settings } = this.#options.mirror;
    const path = joinRaw(dir, name);
    const { name: sentName, fixed } = fields.decided?.name ?? sentNameOf(nameOf(path));
    const legal = fixed ? `the archive gets a legal name; here it is ${shown(name)}` : null;
    await this.#options.emit({
      mirror: settings.name,
      path,
      action: fields.action,
      target: fields.decided?.folder ?? targetPathOf(settings.target, dirOf(path)),
      folderId: fields.folderId ?? null,
      folder: fields.folder ?? null,
      sentName,
      pages: fields.pages ?? null,
      sizeBytes: seen.sizeBytes,
      digest: fields.digest ?? null,
      problem: fields.problem ?? null,
      remark: fields.remark ?? legal,
      rule: fields.decided?.rule ?? null,
      metadata: fields.decided?.attributes?.metadata ?? {},
      expires: expiresOf(fields.decided?.attributes ?? null),
    });
  }
}

function after(document: Document, event: Event): Document {
  return { ...document, ...transition(document, event) };
}

/** Nothing becomes of it but another look. */
function isPutOff({ document, changes }: Judged): boolean {
  return changes.every((change) => change.type === "note" && change.id === document.id);
}

function contentOf(found: Inspection): Pick<LineFields, "digest" | "pages"> {
  return found.kind === "whole" ? { digest: found.digest, pages: found.pages ?? null } : {};
}
