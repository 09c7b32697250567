/** The few methods of a pino logger that rooms use. Context first, then a sentence. */
export interface Log {
  trace(context: object, message: string): void;
  debug(context: object, message: string): void;
  info(context: object, message: string): void;
  warn(context: object, message: string): void;
  error(context: object, message: string): void;
}

/** Says nothing. */
export const silentLog: Log = {
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
};
