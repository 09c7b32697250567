import { redactor } from "../std/redactor.ts";
import type { Log } from "../std/log.ts";
import { printable } from "../std/printable.ts";
import type { Terminal } from "./terminal.ts";

/**
 * A log for commands in the foreground: warnings and errors alone, a line each. What becomes of a
 * document is not repeated here, since the command tells that itself. `before` is called before each
 * line: what is drawn over on a terminal gives way.
 */
export function warningsTo(
  terminal: Terminal,
  secrets: readonly string[],
  before: () => void = () => {},
): Log {
  const redact = redactor(secrets);
  const say = (context: object, message: string) => {
    if ("state" in context) return;
    const facts = Object.entries(context)
      .filter(([name]) => ["mirror", "path", "code"].includes(name))
      .map(([, value]) => String(value));
    const about = facts.length === 0 ? "" : ` (${facts.join(", ")})`;
    before();
    terminal.print(`${printable(redact(`scanferry: ${message}${about}`))}\n`);
  };
  return { trace() {}, debug() {}, info() {}, warn: say, error: say };
}
