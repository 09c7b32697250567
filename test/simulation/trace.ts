import { createHash } from "node:crypto";
import type { Applied } from "../../src/journal/journal.ts";
import type { Clock } from "../../src/std/clock.ts";
import { joinRaw } from "../../src/std/raw-path.ts";

/**
 * What happened in a history, line by line, each with its time in milliseconds; the same seed
 * writes the same trace.
 */
export class Trace {
  readonly lines: string[] = [];
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(who: string, what: string): void {
    this.lines.push(`${this.#clock.monotonic()} ${who}: ${what}`);
  }

  /** SHA-256 of all lines, hex. */
  get hash(): string {
    return createHash("sha256").update(this.lines.join("\n")).digest("hex");
  }
}

/** What was journaled, a line a change. */
export function journaled(applied: readonly Applied[]): string[] {
  return applied.flatMap(({ change, document, from, skipped }) => {
    if (change.type === "directory" || change.type === "batch") return [];
    const what = change.type === "event" ? change.event.type : change.type;
    const id = document?.id ?? ("id" in change ? change.id : 0);
    const where = document ? ` ${document.mirrorId}:${joinRaw(document.dir, document.name)}` : "";
    const arrow = `${from ?? "-"} -> ${document?.state ?? "-"}`;
    const code = document?.problem ? ` ${document.problem.code}` : "";
    const archived = document?.documentId == null ? "" : ` #${document.documentId}`;
    return [`${id}${where} ${what} ${arrow}${skipped ? " (skipped)" : ""}${code}${archived}`];
  });
}
