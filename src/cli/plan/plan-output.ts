/** A plan as it is printed: for people as it comes, or as one JSON object written piece by piece. */
import { unaskedText } from "../../sync/whole-archive.ts";
import type { Mirror } from "../../config/config.ts";
import { failureOf } from "../../domain/failure.ts";
import { targetPathOf } from "../../domain/naming.ts";
import { exact, ROOT, shown } from "../../std/raw-path.ts";
import type { Fault } from "../../std/fault.ts";
import { padded, widthOf, wrapped } from "../text-table.ts";
import { faultLine } from "../exit.ts";
import { printable } from "../../std/printable.ts";
import type { Style, Terminal } from "../terminal.ts";
import { clause, counted, sizeText } from "../../std/wording.ts";
import type { Destinations } from "../../report/plan/destinations.ts";
import {
  type MirrorPlan,
  placeOf,
  type PlanLine,
  type PlanTotals,
} from "../../report/plan/plan-line.ts";
import { leaveOutText, noDocumentsText } from "../../report/no-documents.ts";
import { linkLines } from "../../report/finding-text.ts";

/** Where a plan goes. */
export interface PlanOutput {
  begin(mirror: Mirror): Promise<void>;
  /** May be called before the last line is taken: several directories are planned at a time. */
  line(line: PlanLine): Promise<void>;
  end(
    plans: readonly MirrorPlan[],
    asked: ReadonlyMap<string, Destinations>,
    notes: PlanNotes,
  ): Promise<void>;
}

/** What stands at the end of a plan. */
export type PlanNotes = {
  readonly totals: PlanTotals;
  /** Why nothing would be sent just now; null when it would. */
  readonly stopped: string | null;
  /** Pages left of the month's allowance; null where none is configured. */
  readonly pagesLeft: number | null;
};

/** The colour of each action. */
export const ACTION_STYLES: Readonly<Record<PlanLine["action"], Style>> = {
  send: "green",
  hold: "yellow",
  wait: "dim",
  skip: "dim",
};

/** For people. */
export class PlanText implements PlanOutput {
  readonly #out: Terminal;

  constructor(out: Terminal) {
    this.#out = out;
  }

  async begin({ name, source, target }: Mirror): Promise<void> {
    const title = `${name}: ${source} → ${targetPathOf(target, ROOT)}`;
    await this.#out.line(this.#out.paint("bold", printable(title)));
  }

  async line(line: PlanLine): Promise<void> {
    const { action, path, pages, sizeBytes, problem, remark } = line;
    const mark = this.#out.paint(ACTION_STYLES[action], action);
    const size = padded(sizeText(sizeBytes), 8, "right");
    const paper = padded(pages === null ? "? p" : `${pages} p`, 6, "right");
    const place = placeOf(line);
    const name = line.sentName === shown(path).split("/").at(-1) ? "" : ` as ${line.sentName}`;
    const isBound = action === "send" || action === "skip";
    const where = isBound ? `${place}${name}` : reasonOf(problem);
    const note = remark === null ? "" : this.#out.paint("dim", `  ${printable(remark)}`);
    const attributes = attributeLine(line);
    const goes =
      attributes === "" ? "" : `\n${this.#out.paint("dim", printable(`        ${attributes}`))}`;
    await this.#out.line(
      `  ${mark}  ${paper}  ${size}  ${shown(path)}  → ${printable(where)}${note}${goes}`,
    );
  }

  async end(
    plans: readonly MirrorPlan[],
    asked: ReadonlyMap<string, Destinations>,
    { totals, stopped, pagesLeft }: PlanNotes,
  ): Promise<void> {
    const out = this.#out;
    for (const { name, offline, unreadable } of plans) {
      if (offline !== null) await out.line(printable(`mirror ${name} is offline: ${offline}`));
      for (const { path, problem } of unreadable) {
        await out.line(`cannot be read: ${shown(path)}: ${printable(problem.message)}`);
      }
    }
    for (const { name, noDocuments } of plans) {
      const text = noDocumentsText(noDocuments);
      if (text === undefined) continue;
      await out.line(`mirror ${printable(name)}: ${text}; ${clause(leaveOutText(noDocuments))}`);
    }
    for (const line of linkLines(plans)) await out.line(line);
    for (const [name, destinations] of asked) {
      await this.#destinations(
        asked.size > 1 ? `the archive ${name}` : "the archive",
        destinations,
      );
    }
    if (stopped !== null) await out.line(printable(`nothing is sent now: ${stopped}`));
    if (pagesLeft !== null && totals.pages > pagesLeft) {
      const left = counted(Math.max(0, pagesLeft), "page");
      await out.line(`this is more than the rest of this month's allowance: ${left}`);
    }
    const sum = totalsLine(totals, plans);
    for (const line of out.isInteractive ? wrapped(sum, out.width) : [sum]) await out.line(line);
  }

  async #destinations(archive: string, { missing, outage, unasked }: Destinations): Promise<void> {
    if (missing.length > 0) {
      const width = Math.max(...missing.map(({ path }) => widthOf(printable(path))));
      await this.#out.line(`folders to create in ${archive}:`);
      for (const { path, documents } of missing) {
        const wait = documents === 0 ? "" : `  ${counted(documents, "document")}`;
        await this.#out.line(`  ${padded(printable(path), Math.min(width, 48))}${wait}`);
      }
    }
    if (outage) {
      await this.#out.line(
        printable(`cannot ask ${archive} for its folders: ${faultLine(outage)}`),
      );
    }
    if (unasked !== null) await this.#out.line(printable(`${archive}: ${unaskedText(unasked)}`));
  }
}

/** What goes with it, in one line: the rule, the values, the day on which it expires. */
export function attributeLine({ rule, metadata, expires }: PlanLine): string {
  const fields = Object.entries(metadata).map(([field, { value }]) => `${field} "${value}"`);
  const named = rule === null ? [] : [`rule ${rule}`];
  const dated = expires === null ? [] : [`expires ${expires.at} (${expires.from})`];
  return [...named, ...fields, ...dated].join(", ");
}

function reasonOf(problem: PlanLine["problem"]): string {
  if (!problem) return "not known";
  const { code, message } = problem;
  return `${code}: ${message}; ${clause(failureOf(code).hint)}`;
}

function totalsLine(totals: PlanTotals, plans: readonly MirrorPlan[]): string {
  const { send, pages, pagesUnknown, bytes, hold, wait, skip } = totals;
  const archived = plans.reduce((sum, plan) => sum + plan.archived, 0);
  const unknown = pagesUnknown === 0 ? "" : ` and ${counted(pagesUnknown, "document")} not counted`;
  const paper = `${counted(pages, "page")}${unknown}, ${sizeText(bytes)}`;
  const skipped = skip === 0 ? "" : `skip ${counted(skip, "duplicate")}, `;
  const rest = `would hold ${hold}, wait for ${wait}, ${skipped}leave out ${archived} that the archive has`;
  return `scanferry would send ${counted(send, "document")} (${paper}), ${rest}; nothing was sent or written`;
}

/** Whether an archive could be asked for its folders. */
function askedOf(outage: Fault | undefined) {
  if (!outage) return { asked: true, error: null };
  const { code, message, hint } = outage;
  return { asked: false, error: { code, message, hint } };
}

/** One JSON object, written piece by piece: a plan may be longer than memory. */
export class PlanJson implements PlanOutput {
  readonly #out: Terminal;
  #isOpen = false;
  #lines = 0;

  constructor(out: Terminal) {
    this.#out = out;
  }

  async begin(): Promise<void> {
    await this.#open();
  }

  async line(line: PlanLine): Promise<void> {
    const { path, sizeBytes, digest, problem, ...rest } = line;
    const record = {
      ...rest,
      path: exact(path),
      size: sizeBytes,
      sha256: digest,
      error: problem && { ...problem, hint: failureOf(problem.code).hint },
    };
    const comma = this.#lines > 0 ? "," : "";
    this.#lines += 1;
    await this.#out.write(`${comma}\n${JSON.stringify(record)}`);
  }

  async end(
    plans: readonly MirrorPlan[],
    asked: ReadonlyMap<string, Destinations>,
    { totals, stopped, pagesLeft }: PlanNotes,
  ): Promise<void> {
    await this.#open();
    const mirrors = plans.map(({ unreadable, ...plan }) => ({
      ...plan,
      unreadable: unreadable.map(({ path, problem }) => ({ path: exact(path), ...problem })),
    }));
    const archives = [...asked].map(([name, { outage }]) => ({ name, ...askedOf(outage) }));
    const foldersToCreate = [...asked].flatMap(([archive, { missing }]) =>
      missing.map((folder) => (asked.size > 1 ? { ...folder, archive } : folder)),
    );
    // Of several archives: one that could not be asked, if there is any.
    const archive = askedOf([...asked.values()].find(({ outage }) => outage)?.outage);
    const rest = { foldersToCreate, mirrors, archive, archives, stopped, pagesLeft, totals };
    await this.#out.line(`\n],${JSON.stringify(rest).slice(1)}`);
  }

  async #open(): Promise<void> {
    if (this.#isOpen) return;
    this.#isOpen = true;
    await this.#out.write('{"documents":[');
  }
}
