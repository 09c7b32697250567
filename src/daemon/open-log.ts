import { pino, stdTimeFunctions } from "pino";
import type { Config } from "../config/config.ts";
import { LogFile } from "./log-file.ts";
import { LogOutput } from "./log-output.ts";
import { recentLines } from "./recent-lines.ts";
import { type Log, levelOf } from "../std/log.ts";
import { inert, legible } from "../std/printable.ts";
import { redactor } from "../std/redactor.ts";

export type LogOptions = {
  readonly level: Config["log"]["level"];
  /** Values that must appear nowhere, whatever is logged. */
  readonly secrets: readonly string[];
  /** For people at a terminal: one plain line each instead of JSON. */
  readonly pretty: boolean;
  /** Instead of the standard output. */
  readonly file?: Config["log"]["file"];
};

/** A log that holds on to something; disposing it lets go. */
export type OpenLog = Log & Disposable;

/** pino to stdout, or to a file of its own. One redactor, by value, over every line: a secret has no other way out. */
export function openLog({ level, secrets, pretty, file }: LogOptions): OpenLog {
  const redact = redactor(secrets);
  const dropped = (lines: number) =>
    log.warn({ lines }, "log lines were dropped: the standard output was not read in time");
  const toOutput = (line: string) => output.write(pretty ? plainLine(line) : line, dropped);
  const own = file && new LogFile(file, toOutput);
  const write = (line: string) => {
    // pino escapes C0 alone.
    const clean = inert(redact(line));
    recentLines.add(clean);
    if (own) own.write(clean);
    else toOutput(clean);
  };
  const log = pino(
    { level, base: { pid: process.pid }, timestamp: stdTimeFunctions.isoTime },
    { write },
  );
  return Object.assign(log, { [Symbol.dispose]: () => own?.close() });
}

/** One, whatever logs are opened one after another. */
const output = new LogOutput(() => process.stdout);

function plainLine(line: string): string {
  const { time, level, msg, pid: _pid, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const context = Object.entries(rest)
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
  const text = `${String(time).slice(11, 19)} ${levelOf(level).padEnd(5)} ${String(msg)}  ${context}`;
  // JSON had escaped what steers a terminal: a hook's answer, say, or a database's.
  return `${legible(text)}\n`;
}
