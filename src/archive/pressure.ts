import { codeOf } from "../std/fault.ts";
import type { ArchiveError } from "./archive-error.ts";

/** Too many requests, not available just now, and a proxy that waited in vain. */
const STATUSES: ReadonlySet<number> = new Set([429, 503, 504]);

/** Whether the archive asked for patience, or took too long: fewer requests at a time may help it. */
export function isPressed({ httpStatus, code, cause }: ArchiveError): boolean {
  if (httpStatus !== undefined) return STATUSES.has(httpStatus);
  if (code === "ARCHIVE_TIMEOUT") return true;
  return code === "ARCHIVE_UNREACHABLE" && codeOf(cause) === "ETIMEDOUT";
}
