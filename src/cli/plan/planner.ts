/**
 * What a run would do, found out without doing it: the source is scanned as if nothing were known,
 * every file is compared with the journal, and what would be sent is looked at closely. Decides by
 * the same rules as intake and settling; writes and sends nothing.
 */
import { type Document, SENT_STATES, type Trouble } from "../../domain/document.ts";
import { isSameStamp } from "../../domain/stamp.ts";
import { sentNameOf, targetPathOf } from "../../domain/naming.ts";
import { ripeness, unfitSize } from "../../domain/settle.ts";
import { FOLDER_CODES } from "../../domain/verdict.ts";
import type { Journal, Known } from "../../journal/journal.ts";
import type { Decided } from "../../rules/decide.ts";
import type { FileSeen, Inspection, Listing } from "../../source/source.ts";
import type { Clock } from "../../std/clock.ts";
import { dirOf, joinRaw, nameOf, type RawPath, shown } from "../../std/raw-path.ts";
import { decisionOn } from "../../sync/decision.ts";
import type { LiveMirror } from "../../sync/context.ts";
import { originalAmong } from "../../sync/duplicates.ts";
import type { Here } from "../../sync/former-places.ts";
import { expiresOf } from "../rules/trial.ts";
import { Archived } from "./archived.ts";
import type { Destinations } from "./destinations.ts";
import type { PlanLine } from "./plan-line.ts";

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
  readonly destinations: Destinations;
  /** Nothing is known of what the archive holds: what has a name that stands there waits for a person. */
  readonly isFirstRun: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly emit: (line: PlanLine) => Promise<void>;
};

/** Plans one mirror, directory by directory. */
export class Planner {
  readonly #options: PlannerOptions;
  readonly #archivedFiles: Archived;
  readonly #digests = new Map<string, RawPath>();
  #archived = 0;

  constructor(options: PlannerOptions) {
    this.#options = options;
    this.#archivedFiles = new Archived(options.mirror, options.journal);
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
    if (row.state !== "held" && row.state !== "failed") return true;
    const before = await this.#rowOf(candidate);
    if (!before?.trouble || this.#mayBeOver(before.trouble)) return true;
    await this.#emit(candidate, { action: "hold", ...journaled(before) });
    return false;
  }

  /** Folders are looked up anew: one that was missing may be there by now. */
  #mayBeOver({ code }: Trouble): boolean {
    if (code === "FIRST_RUN") return !this.#options.isFirstRun;
    return (FOLDER_CODES as readonly string[]).includes(code);
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
      case "changed": {
        const trouble = { code: "FILE_CHANGED", message: "it is being written to" };
        return this.#emit(candidate, { action: "wait", trouble });
      }
      case "waits":
      case "unreadable":
        return this.#emit(candidate, { action: "hold", trouble: found.trouble });
      case "whole":
        return this.#whole(candidate, found);
    }
  }

  async #whole(candidate: Candidate, found: Whole): Promise<void> {
    const { settings } = this.#options.mirror;
    const { settleMs, incompleteMs } = settings;
    const now = this.#options.clock.now();
    const before = await this.#rowOf(candidate);
    const unchanged = before && isSameStamp(before.seen.stamp, found.seen.stamp);
    const changedAt = unchanged ? before.changedAt : now;
    const ripe = ripeness(found.seen, found.completeness, {
      now,
      changedAt,
      settleMs,
      incompleteMs,
      minAgeMs: settings.rules.ready.minAgeMs,
    });
    const common = { digest: found.digest, pages: found.pages ?? null };
    const unfit = unfitSize(found.seen, settings.rules.ready);
    if (unfit) return this.#emit(candidate, { ...common, action: "hold", trouble: unfit });
    if (ripe.kind === "wait") {
      return this.#emit(candidate, { ...common, action: "wait", trouble: ripe.trouble });
    }
    if (ripe.kind === "empty") {
      return this.#emit(candidate, { ...common, action: "hold", trouble: ripe.trouble });
    }
    const here = { path: candidate.path, seen: found.seen };
    if (await this.#archivedFiles.has(here, before, found.digest)) {
      this.#archived += 1;
      return;
    }
    const decision = decisionOn(settings, candidate.path, found, now);
    if ("trouble" in decision) {
      return this.#emit(candidate, { ...common, action: "hold", trouble: decision.trouble });
    }
    const { decided } = decision;
    const twin = await this.#twin(here, found.digest);
    if (twin !== undefined) {
      const remark = `the same content as ${twin}; by \`duplicates\` it is not sent`;
      return this.#emit(candidate, { ...common, action: "skip", decided, remark });
    }
    const place = await this.#place(candidate.path, decided.folder);
    await this.#emit(candidate, { ...common, ...place, decided, remark: ripe.remark });
  }

  /** Another file of the mirror with this content, archived or to be sent; undefined without one. */
  async #twin({ path, seen }: Here, digest: string): Promise<string | undefined> {
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
    path: RawPath,
    target: string,
  ): Promise<Pick<Fields, "action" | "folderId" | "folder" | "trouble">> {
    const { destinations, mirror, isFirstRun, signal } = this.#options;
    const place = await destinations.of(target, mirror, signal);
    if ("trouble" in place) return { action: "hold", trouble: place.trouble };
    if (!isFirstRun || place.folderId === null) return { action: "send", ...place };
    const { name } = sentNameOf(nameOf(path));
    const trouble = await destinations.objection(name, place.folderId, signal);
    return trouble ? { action: "hold", ...place, trouble } : { action: "send", ...place };
  }

  async #emit({ path, file }: Candidate, fields: Fields): Promise<void> {
    const { settings } = this.#options.mirror;
    const { name: sentName, mended } = fields.decided?.name ?? sentNameOf(nameOf(path));
    const legal = mended ? `archived under a legal name; here it is ${shown(nameOf(path))}` : null;
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
      trouble: fields.trouble ?? null,
      remark: fields.remark ?? legal,
      rule: fields.decided?.rule ?? null,
      metadata: fields.decided?.slip?.metadata ?? {},
      expires: expiresOf(fields.decided?.slip ?? null),
    });
  }
}

/** What is decided of a file; the rest of its line follows from its path. */
type Fields = {
  readonly action: PlanLine["action"];
  readonly folderId?: number | null;
  readonly folder?: string | null;
  readonly pages?: number | null;
  readonly digest?: string | null;
  readonly decided?: Decided;
  readonly trouble?: Trouble | null;
  readonly remark?: string | null;
};

/** What was decided of a document that waits: it goes on as it stands in the journal. */
function journaled(document: Document): Omit<Fields, "action"> {
  const { folderId, estimate, digest, trouble, remark, targetPath, sentName, slip } = document;
  const fields = { folderId, pages: estimate, digest, trouble, remark };
  if (targetPath === null || sentName === null) return fields;
  const name = { ...sentNameOf(document.name), name: sentName };
  return { ...fields, decided: { rule: slip?.rule ?? null, folder: targetPath, name, slip } };
}
