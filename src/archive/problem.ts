import type { Problem } from "../domain/document.ts";
import type { ArchiveError } from "./archive-error.ts";

/**
 * What is journaled of an archive error. Every way of saying that key or signature are not accepted
 * (the interface names no code for it) becomes one code; the archive's own words stay.
 */
export function problemOf(error: ArchiveError): Problem {
  return {
    code: error.credentials ? "CREDENTIALS_REFUSED" : error.code,
    message: error.message,
  };
}
