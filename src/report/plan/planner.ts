/**
 * What a run would do, found out without doing it: the source is scanned as if nothing were known,
 * every file is compared with the journal, and what would be sent is looked at closely. Decides by
 * the same rules as intake and settling; writes and sends nothing.
 */
import type { TooOften } from "../../domain/change-rate.ts";
import {
  type Document,
  mayBeArchived,
  type Problem,
  type Seen,
  SENT_STATES,
} from "../../domain/document.ts";
import { isSameStamp } from "../../domain/stamp.ts";
import { sentNameOf, targetPathOf } from "../../domain/naming.ts";
import { isAsNew } from "../../domain/adopt.ts";
import { isAskedFor } from "../../domain/settle.ts";
import { FOLDER_CODES } from "../../domain/code-sets.ts";
import type { Journal, Known } from "../../journal/journal.ts";
import type { FileSeen, Inspection, Listing } from "../../source/source.ts";
import type { Clock } from "../../std/clock.ts";
import { dirOf, joinRaw, nameOf, type RawPath, shown } from "../../std/raw-path.ts";
import { mayBeDecidedAgain } from "../../sync/decided-again.ts";
import { decisionOn, judge } from "../../sync/decision.ts";
import type { LiveMirror } from "../../sync/context.ts";
import { originalAmong } from "../../sync/duplicates.ts";
import { sentTooOften } from "../../sync/sent-often.ts";
import { expiresOf } from "../trial.ts";
import type { Destinations } from "./destinations.ts";
import { ArchivedFiles } from "./archived.ts";
import type { OtherMirrors } from "./other-mirrors.ts";
import { type Going, journaled, type LineFields, type PlanLine } from "./plan-line.ts";

const WRITTEN_TO = { code: "FILE_CHANGED", message: "a program is writing to it" };

/** Files of one close look. */
const INSPECT_MAX = 32;

/** A file that may have to be sent, with its row where it has one. */
type Candidate = {
  readonly path: RawPath;
  readonly file: FileSeen;
  readonly row: Known | undefined;
};

type Whole = Extract<Inspection, { kind: "whole" }>;

/** The plan of one mirror. `emit` is waited for, so that no lines pile up. */
export type PlannerOptions = {
  readonly mirror: LiveMirror;
  /** Undefined where the journal does not have the mirror, or there is none. */
  readonly journal: Journal | undefined;
  readonly others: OtherMirrors;
  readonly destinations: Destinations;
  /** What waits was decided by other settings than the mirror has now. */
  readonly isDecidedOtherwise: boolean;
  /** Nothing is known of what the archive holds; not asked where `firstRun: upload` was chosen. */
  readonly isFirstRun: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly emit: (line: PlanLine) => Promise<void>;
};

/** Plans one mirror, directory by directory. */
export class Planner {
  readonly #options: PlannerOptions;
  readonly #archivedFiles: ArchivedFiles;
  readonly #digests = new Map<string, RawPath>();
  #archived = 0;

  constructor(options: PlannerOptions) {
    this.#options = options;
    this.#archivedFiles = new ArchivedFiles(options);
  }

  /** Files whose content the archive has, or is getting, already. */
  get archived(): number {
    return this.#archived;
  }

  /** Plans the files of one directory. */
  async listing({ dir, files }: Listing): Promise<void> {
    const { journal, mirror } = this.#options;
    const rows = (await journal?.rowsIn(mirror.row.id, dir)) ?? [];
    const known = new Map(rows.map((row) => [row.name, row]));
    const candidates: Candidate[] = [];
    for (const file of files) {
      const candidate = { path: joinRaw(dir, file.name), file, row: known.get(file.name) };
      if (await this.#isCandidate(candidate)) candidates.push(candidate);
    }
    for (let at = 0; at < candidates.length; at += INSPECT_MAX) {
      await this.#lookAt(candidates.slice(at, at + INSPECT_MAX));
    }
  }

  /** False when it is settled already what becomes of the file. */
  async #isCandidate(candidate: Candidate): Promise<boolean> {
    const { row, file } = candidate;
    if (!row || !isSameStamp(row.stamp, file.seen.stamp)) return true;
    if (SENT_STATES.includes(row.state)) {
      this.#archived += 1;
      return false;
    }
    const before = await this.#rowOf(candidate);
    if (!before || row.state === "settling") return true;
    if (this.#options.isDecidedOtherwise && mayBeDecidedAgain(before)) return true;
    if (row.state === "pending") return !(await this.#goesAsDecided(candidate, before));
    if (!before.problem || this.#mayBeOver(before.problem)) return true;
    await this.#emit(candidate, { action: "hold", ...(await this.#journaled(candidate, before)) });
    return false;
  }

  /** Pages are counted only where they are asked for, as here. */
  async #journaled(candidate: Candidate, before: Document): Promise<Omit<LineFields, "action">> {
    const fields = journaled(before);
    if (fields.pages !== null) return fields;
    const found = await this.#aloneOf(candidate, true);
    return { ...fields, pages: found?.kind === "whole" ? (found.pages ?? null) : null };
  }

  /** What waits goes as it stands in the journal, whatever the settings are by now. */
  async #goesAsDecided(candidate: Candidate, before: Document): Promise<boolean> {
    const { decided, digest, ...rest } = await this.#journaled(candidate, before);
    if (!decided || !digest) return false;
    await this.#send(candidate, before.seen, {
      ...rest,
      folderId: null,
      problem: null,
      decided,
      digest,
    });
    return true;
  }

  /** Folders are looked up again: one that was missing may be there by now. So is what looked unfinished. */
  #mayBeOver({ code }: Problem): boolean {
    if (code === "FIRST_RUN") return this.#options.mirror.settings.firstRun === "upload";
    if (code === "FILE_INCOMPLETE") return true;
    return FOLDER_CODES.includes(code);
  }

  async #lookAt(candidates: readonly Candidate[]): Promise<void> {
    const { mirror } = this.#options;
    const asked = candidates.map(({ path, file }) => ({ path, seen: file.seen }));
    const found = await mirror.reader.inspect(mirror.row.id, asked, { pages: true });
    for (const [index, candidate] of candidates.entries()) {
      const inspection = found[index];
      if (inspection) await this.#judge(candidate, inspection);
    }
  }

  async #judge(candidate: Candidate, found: Inspection): Promise<void> {
    switch (found.kind) {
      case "gone":
        return;
      case "changed":
        return this.#emit(candidate, { action: "wait", problem: WRITTEN_TO });
      case "waits":
        if (await this.#isArchivedAlone(candidate)) return;
        return this.#emit(candidate, { action: "hold", problem: found.problem });
      case "unreadable":
        return this.#emit(candidate, { action: "hold", problem: found.problem });
      case "whole":
        return this.#whole(candidate, found);
    }
  }

  /** Whatever the rules say of files that are to be sent. */
  async #isArchived(candidate: Candidate, found: Whole): Promise<boolean> {
    const before = await this.#rowOf(candidate);
    const { path } = candidate;
    const here = { mirrorId: this.#options.mirror.row.id, path, seen: found.seen };
    const at = this.#options.clock.now();
    const isKnown = await this.#archivedFiles.has(here, before, found, at);
    if (isKnown) this.#archived += 1;
    return isKnown;
  }

  /** The same of what lacks something next to it. */
  async #isArchivedAlone(candidate: Candidate): Promise<boolean> {
    const found = await this.#aloneOf(candidate, false);
    return found?.kind === "whole" && this.#isArchived(candidate, found);
  }

  async #aloneOf({ path, file }: Candidate, pages: boolean): Promise<Inspection | undefined> {
    const { reader, row } = this.#options.mirror;
    const asked = [{ path, seen: file.seen }];
    return (await reader.inspect(row.id, asked, { pages, alone: true }))[0];
  }

  async #whole(candidate: Candidate, found: Whole): Promise<void> {
    const { settings } = this.#options.mirror;
    const now = this.#options.clock.now();
    const before = await this.#rowOf(candidate);
    const unchanged = before && isSameStamp(before.seen.stamp, found.seen.stamp);
    const changedAt = unchanged ? before.changedAt : now;
    const anyway = unchanged === true && isAskedFor(before);
    const ripe = judge(settings, found, { now, changedAt, anyway });
    const common = { digest: found.digest, pages: found.pages ?? null };
    if (await this.#isArchived(candidate, found)) return;
    if (ripe.kind === "unfit") {
      return this.#emit(candidate, { ...common, action: "hold", problem: ripe.problem });
    }
    if (ripe.kind === "wait") {
      return this.#emit(candidate, { ...common, action: "wait", problem: ripe.problem });
    }
    const often = await this.#tooOften(before, now);
    if (often) return this.#emit(candidate, { ...common, action: "hold", problem: often.problem });
    if (ripe.kind === "held") {
      return this.#emit(candidate, { ...common, action: "hold", problem: ripe.problem });
    }
    const decision = decisionOn(settings, candidate.path, found, now);
    if ("problem" in decision) {
      return this.#emit(candidate, { ...common, action: "hold", problem: decision.problem });
    }
    await this.#send(candidate, found.seen, { ...common, ...decision, remark: ripe.remark });
  }

  async #send(candidate: Candidate, seen: Seen, going: Going): Promise<void> {
    const { decided, digest } = going;
    const twin = await this.#twin(candidate.path, seen, digest);
    if (twin !== undefined) {
      const remark = `it has the same content as ${twin}; \`duplicates\` says not to send it`;
      return this.#emit(candidate, { ...going, action: "skip", remark });
    }
    const file = { sentName: decided.name.name, sizeBytes: seen.sizeBytes };
    const place = await this.#place(file, decided.folder, isAsNew(going));
    await this.#emit(candidate, { ...going, ...place });
  }

  /** The path's contents before it, of which the latest that was sent is its row, or what that replaced. */
  async #tooOften(row: Document | undefined, now: number): Promise<TooOften | undefined> {
    const { journal, mirror } = this.#options;
    if (!journal || !row) return undefined;
    const isSent = mayBeArchived(row) || row.documentId !== null;
    const last = isSent ? row : await journal.document(row.supersedes ?? 0);
    return sentTooOften(journal, last, { now, max: mirror.settings.changesPerHour });
  }

  /** Another file of the mirror with this content, archived or to be sent; undefined without one. */
  async #twin(path: RawPath, seen: Seen, digest: string): Promise<string | undefined> {
    const { journal, mirror } = this.#options;
    if (mirror.settings.rules.duplicates === "upload") return undefined;
    const sent = (await journal?.sentWith(mirror.row.id, digest, seen.sizeBytes)) ?? [];
    const other = originalAmong(sent);
    const twin = other ? joinRaw(other.dir, other.name) : this.#digests.get(digest);
    this.#digests.set(digest, path);
    return twin === undefined || twin === path ? undefined : shown(twin);
  }

  async #rowOf({ row }: Candidate): Promise<Document | undefined> {
    return row && (await this.#options.journal?.document(row.id));
  }

  async #place(
    file: { readonly sentName: string; readonly sizeBytes: number },
    target: string,
    asNew: boolean,
  ): Promise<Pick<LineFields, "action" | "folderId" | "folder" | "problem">> {
    const { destinations, mirror, isFirstRun, signal } = this.#options;
    const place = await destinations.of(target, mirror, signal);
    if ("problem" in place) return { action: "hold", problem: place.problem };
    const { folderId } = place;
    if (folderId === null || asNew || mirror.settings.firstRun === "upload")
      return { action: "send", ...place };
    const outgoing = { ...file, folderId };
    const problem = await destinations.objection(outgoing, isFirstRun, signal);
    return problem ? { action: "hold", ...place, problem } : { action: "send", ...place };
  }

  async #emit({ path, file }: Candidate, fields: LineFields): Promise<void> {
    const { settings } = this.#options.mirror;
    const { name: sentName, fixed } = fields.decided?.name ?? sentNameOf(nameOf(path));
    const legal = fixed ? `archived under a legal name; here it is ${shown(nameOf(path))}` : null;
    await this.#options.emit({
      mirror: settings.name,
      path,
      action: fields.action,
      target: fields.decided?.folder ?? targetPathOf(settings.target, dirOf(path)),
      folderId: fields.folderId ?? null,
      folder: fields.folder ?? null,
      sentName,
      pages: fields.pages ?? null,
      sizeBytes: file.seen.sizeBytes,
      digest: fields.digest ?? null,
      problem: fields.problem ?? null,
      remark: fields.remark ?? legal,
      rule: fields.decided?.rule ?? null,
      metadata: fields.decided?.attributes?.metadata ?? {},
      expires: expiresOf(fields.decided?.attributes ?? null),
    });
  }
}
