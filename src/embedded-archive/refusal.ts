import { Fault } from "../std/fault.ts";

/** What the archive was given, by options or by hand, and cannot do anything with. */
export function unusable(message: string, hint: string, cause?: unknown): Fault {
  return new Fault("EMBEDDED_ARCHIVE_OPTIONS", message, hint, { cause });
}

/**
 * A request that the archive turns down: `code` is what `responseDescription` carries. `status`
 * is the HTTP status of a reply outside the seven operations' own errors; those have none, and go
 * out with the status that the options say (section Errors, 4: the interface leaves it open).
 */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: string;
  readonly status: number | undefined;

  constructor(code: string, status?: number) {
    super(`refused with ${code}`);
    this.code = code;
    this.status = status;
  }
}
