import { pino, stdTimeFunctions } from "pino";
import type { Config } from "../config/config.ts";
import { LogFile } from "./log-file.ts";
import type { Log } from "../std/log.ts";
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
  const toOutput = (line: string) => {
    // A closed or full stdout must neither end the daemon nor block it.
    process.stdout.write(pretty ? plainLine(line) : line, () => {});
  };
  // A reload opens another log: listeners would add up.
  if (!process.stdout.listeners("error").includes(ignored)) process.stdout.on("error", ignored);
  const own = file && new LogFile(file, toOutput);
  const write = (line: string) => {
    const clean = redact(line);
    if (own) own.write(clean);
    else toOutput(clean);
  };
  const log = pino(
    { level, base: { pid: process.pid }, timestamp: stdTimeFunctions.isoTime },
    { write },
  );
  return Object.assign(log, { [Symbol.dispose]: () => own?.close() });
}

function ignored(): void {}

const LEVELS: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};

function plainLine(line: string): string {
  const { time, level, msg, pid: _pid, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const context = Object.entries(rest)
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
  return `${String(time).slice(11, 19)} ${(LEVELS[Number(level)] ?? "").padEnd(5)} ${String(msg)}  ${context}\n`;
}
