/** A plan as a person reads it on a terminal: by archive folder, no line longer than the screen is wide. */
import { failureOf } from "../../domain/failure.ts";
import { dirOf, nameOf, shown } from "../../std/raw-path.ts";
import { cut, cutMiddle, padded, widthOf, wrapped } from "../text-table.ts";
import { printable } from "../../std/printable.ts";
import type { Terminal } from "../terminal.ts";
import { clause, counted, sizeText } from "../../std/wording.ts";
import { ACTION_STYLES, attributeLine, type PlanNotes, PlanText } from "./plan-output.ts";
import type { Destinations } from "../../report/plan/destinations.ts";
import { type MirrorPlan, placeOf, type PlanLine } from "../../report/plan/plan-line.ts";

const NOTE_COLUMNS = 24;

export class PlanScreen extends PlanText {
  readonly #out: Terminal;
  /** Documents that would be held, or wait, by the reason. */
  readonly #reasons = new Map<string, number>();
  #folder: string | undefined;

  constructor(out: Terminal) {
    super(out);
    this.#out = out;
  }

  override async line(line: PlanLine): Promise<void> {
    const { width } = this.#out;
    const { action, path, pages, sizeBytes, problem, remark, sentName } = line;
    const place = placeOf(line);
    // A folder's documents come together; where they do not, it is named again.
    const folder = `${shown(dirOf(path))}\n${place}`;
    if (folder !== this.#folder) {
      await this.#out.line(`  → ${this.#out.paint("bold", cut(printable(place), width - 4))}`);
    }
    this.#folder = folder;
    if (problem) this.#reasons.set(problem.code, (this.#reasons.get(problem.code) ?? 0) + 1);
    const mark = this.#out.paint(ACTION_STYLES[action], action);
    const size = padded(sizeText(sizeBytes), 8, "right");
    const paper = padded(pages === null ? "? p" : `${pages} p`, 6, "right");
    const name = shown(nameOf(path));
    const notes = [problem?.code, sentName === name ? undefined : `as ${sentName}`, remark];
    const note = notes.filter((each) => each !== undefined && each !== null).join(", ");
    const shownNote = note === "" ? "" : `  ${cut(printable(note), NOTE_COLUMNS)}`;
    const start = `    ${mark}  ${paper}  ${size}  `;
    const room = width - widthOf(start) - widthOf(shownNote);
    await this.#out.line(`${start}${cutMiddle(name, room)}${this.#out.paint("dim", shownNote)}`);
    const goes = attributeLine(line);
    if (goes === "") return;
    await this.#out.line(this.#out.paint("dim", `          ${cut(printable(goes), width - 10)}`));
  }

  override async end(
    plans: readonly MirrorPlan[],
    asked: ReadonlyMap<string, Destinations>,
    notes: PlanNotes,
  ): Promise<void> {
    if (this.#reasons.size > 0) await this.#out.line();
    for (const [code, documents] of this.#reasons) {
      const text = `${counted(documents, "document")}: ${code}; ${clause(failureOf(code).hint)}`;
      for (const line of wrapped(text, this.#out.width)) {
        await this.#out.line(this.#out.paint("yellow", line));
      }
    }
    await super.end(plans, asked, notes);
  }
}
