import type { Document, State } from "../domain/document.ts";
import type { Applied } from "../journal/journal.ts";
import type { Clock } from "../std/clock.ts";
import { joinRaw, shown } from "../std/raw-path.ts";
import { type Counts, noDocuments } from "../sync/status.ts";
import { cut } from "./columns.ts";
import { printable } from "./printable.ts";
import { STATE_STYLES } from "./status-lines.ts";
import type { Terminal } from "./terminal.ts";
import { counted } from "./wording.ts";

/** A terminal is drawn on no more often than this. */
const DRAW_MS = 100;

/** Back to the start of the line, and the line cleared. */
const CLEAR = "\r\u001b[2K";

/** States that are worth a line where there is no terminal to draw on. */
const TOLD: readonly State[] = ["uploaded", "converted", "held", "failed"];

/** Tells how a pass goes: one line that is drawn over on terminals, a line a document elsewhere. */
export class Progress {
  readonly #out: Terminal;
  readonly #clock: Clock;
  readonly #counts: Counts = noDocuments();
  #drawnAt = Number.NEGATIVE_INFINITY;
  /** Unfinished files that were told of; they are looked at again and again. */
  readonly #waitedFor = new Set<number>();
  /** What this pass itself did. */
  #sent = 0;
  #converted = 0;

  constructor(out: Terminal, clock: Clock) {
    this.#out = out;
    this.#clock = clock;
  }

  get sent(): number {
    return this.#sent;
  }

  get converted(): number {
    return this.#converted;
  }

  /** How many documents there were before. */
  begin(counts: Counts): void {
    Object.assign(this.#counts, counts);
  }

  journaled(applied: readonly Applied[]): void {
    for (const { change, document, from, skipped } of applied) {
      if (skipped) continue;
      if (from !== undefined) this.#counts[from] -= 1;
      if (!document) continue;
      this.#counts[document.state] += 1;
      if (change.type !== "event") continue;
      if (change.event.type === "unfinished") this.#tellWaiting(document);
      if (document.state === from) continue;
      if (document.state === "uploaded") this.#sent += 1;
      if (document.state === "converted") this.#converted += 1;
      if (!this.#out.isInteractive && TOLD.includes(document.state)) this.#tell(document);
    }
    this.#draw();
  }

  /** Clears the line that is drawn over. */
  end(): void {
    if (this.#out.isInteractive) this.#out.print(CLEAR);
  }

  #tellWaiting(document: Document): void {
    if (this.#out.isInteractive || this.#waitedFor.has(document.id)) return;
    this.#waitedFor.add(document.id);
    this.#tell(document);
  }

  #tell(document: Document): void {
    const { state, trouble, documentId, pages } = document;
    const path = shown(joinRaw(document.dir, document.name));
    const archived = documentId === null ? "" : `  document ${documentId}`;
    const paper = pages === null ? "" : `, ${counted(pages, "page")}`;
    const why = trouble ? `  ${printable(`${trouble.code}: ${trouble.message}`)}` : "";
    this.#out.print(`${state.padEnd(9)}  ${path}${archived}${paper}${why}\n`);
  }

  #draw(): void {
    if (!this.#out.isInteractive) return;
    const now = this.#clock.monotonic();
    if (now - this.#drawnAt < DRAW_MS) return;
    this.#drawnAt = now;
    const { settling, pending, uploading, inDoubt, uploaded, converted, held, failed } =
      this.#counts;
    const parts = [
      `settling ${settling}`,
      `waiting ${pending}`,
      `sending ${uploading}`,
      ...(inDoubt > 0 ? [`in doubt ${inDoubt}`] : []),
      `converting ${uploaded}`,
      this.#out.paint(STATE_STYLES.converted, `converted ${converted}`),
      ...(held > 0 ? [this.#out.paint(STATE_STYLES.held, `held ${held}`)] : []),
      ...(failed > 0 ? [this.#out.paint(STATE_STYLES.failed, `failed ${failed}`)] : []),
    ];
    const line = parts.join("  ");
    this.#out.print(CLEAR + (this.#out.hasColour ? line : cut(line, this.#out.width - 1)));
  }
}
