/** The few methods of a pino logger that rooms use. Context first, then a sentence. */
export interface Log {
  trace(context: object, message: string): void;
  debug(context: object, message: string): void;
  info(context: object, message: string): void;
  warn(context: object, message: string): void;
  error(context: object, message: string): void;
}

/** The same log, with `fields` in every line. */
export function logWith(log: Log, fields: object): Log {
  return {
    trace: (context, message) => log.trace({ ...fields, ...context }, message),
    debug: (context, message) => log.debug({ ...fields, ...context }, message),
    info: (context, message) => log.info({ ...fields, ...context }, message),
    warn: (context, message) => log.warn({ ...fields, ...context }, message),
    error: (context, message) => log.error({ ...fields, ...context }, message),
  };
}

/** Says nothing. */
export const silentLog: Log = {
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
};

/** The levels that the log's lines have as numbers. */
const LEVELS: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
};

/** Its word; empty for what is none. */
export function levelOf(level: unknown): string {
  return LEVELS[Number(level)] ?? "";
}

/** Shorter values would blot out innocent text. */
const SECRET_LENGTH_MIN = 4;

/** Replaces every secret, also as it looks inside JSON or percent-encoded. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = secrets
    .filter((secret) => secret.length >= SECRET_LENGTH_MIN)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  const unique = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => unique.reduce((clean, form) => clean.replaceAll(form, "[redacted]"), text);
}
