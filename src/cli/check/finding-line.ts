import { padded } from "../text-table.ts";
import { printable } from "../../std/printable.ts";
import type { Style, Terminal } from "../terminal.ts";
import type { CheckResult } from "./check-result.ts";
import { clause } from "../../std/wording.ts";

const STYLES: Readonly<Record<CheckResult["level"], Style>> = {
  ok: "green",
  warn: "yellow",
  FAIL: "red",
};

/** `FAIL  WHAT — FIX`. */
export function findingLine({ level, what, fix }: CheckResult, out: Terminal): string {
  const mark = out.paint(STYLES[level], padded(level, 4));
  return `${mark}  ${printable(what)}${fix === null ? "" : ` — ${printable(clause(fix))}`}`;
}
