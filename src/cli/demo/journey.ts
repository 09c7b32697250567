import type { Document, State } from "../../domain/document.ts";
import { failureOf } from "../../domain/failure.ts";
import type { Applied } from "../../journal/journal.ts";
import type { Clock } from "../../std/clock.ts";
import { joinRaw, shown } from "../../std/raw-path.ts";
import { cutMiddle, padded } from "../text-table.ts";
import { printable } from "../../std/printable.ts";
import { ProgressBar } from "../progress-bar.ts";
import { STATE_STYLES } from "../status-lines.ts";
import type { Terminal } from "../terminal.ts";
import { clause, counted } from "../../std/wording.ts";

/** As the archive writes it, since that is what everyone waits for. */
const WORDS: Partial<Record<State, string>> = { converted: "CONVERTED" };

const PATH_COLUMNS = 56;

/** On a screen the path gives way: the state, and an id with pages, keep their room. */
const WORD_COLUMNS = 12;
const DETAIL_COLUMNS = 23;

/** Prints each document on its way, a line a step, and on a terminal how far all are below that. */
export class Journey {
  readonly #out: Terminal;
  readonly #target: string;
  readonly #bar: ProgressBar;

  /** `target` is the archive folder that the mirror is carried into. */
  constructor(out: Terminal, clock: Clock, target: string) {
    this.#out = out;
    this.#target = target;
    this.#bar = new ProgressBar(out, clock);
  }

  journaled(applied: readonly Applied[]): void {
    this.#bar.journaled(applied);
    for (const { change, document, from, skipped } of applied) {
      if (skipped || !document || change.type !== "event" || document.state === from) continue;
      this.#bar.above(this.#lineOf(document));
    }
  }

  /** Prints a line among the others. */
  say(line: string): void {
    this.#bar.above(line);
  }

  /** Another writer prints a line. */
  giveWay(): void {
    this.#bar.giveWay();
  }

  /** Clears what is drawn over. */
  end(): void {
    this.#bar.end();
  }

  #lineOf(document: Document): string {
    const { state } = document;
    const word = this.#out.paint(STATE_STYLES[state], padded(WORDS[state] ?? state, 9));
    const detail = printable(this.#detailOf(document));
    const full = shown(joinRaw(document.dir, document.name));
    if (!this.#out.isInteractive) {
      return `${word}  ${padded(full, PATH_COLUMNS)}  ${detail}`.trimEnd();
    }
    const columns = Math.max(20, this.#out.width - WORD_COLUMNS - DETAIL_COLUMNS);
    const path = padded(cutMiddle(full, columns), columns);
    return `${word}  ${path}  ${detail}`.trimEnd();
  }

  #detailOf({ state, documentId, pages, targetPath, problem }: Document): string {
    if (problem && (state === "held" || state === "failed")) {
      const fix =
        problem.code === "FOLDER_MISSING"
          ? `the archive has no folder ${targetPath ?? this.#target}, and its interface cannot create folders; scanferry demo --data DIR creates the folders that DIR/scans has at the start`
          : clause(failureOf(problem.code).hint);
      return `${problem.code}: ${fix}`;
    }
    const parts = [
      documentId === null ? "" : `document ${documentId}`,
      pages === null ? "" : counted(pages, "page"),
      state === "pending" && !this.#out.isInteractive ? `for ${targetPath ?? this.#target}` : "",
    ];
    return parts.filter((part) => part !== "").join(", ");
  }
}
