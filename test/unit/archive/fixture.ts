import type { ArchiveSettings, Upload, UploadFile } from "../../../src/archive/archive.ts";
import { ArchiveError } from "../../../src/archive/archive-error.ts";
import { HttpArchive } from "../../../src/archive/http-archive.ts";
import { type Clock, systemClock } from "../../../src/std/clock.ts";
import type { RawServer } from "./raw-server.ts";

/** Values that must never come out in an error. */
export const CANARIES = { accountKey: "CANARY_ACCOUNT_KEY", secret: "CANARY_SECRET" } as const;

export const never = new AbortController().signal;

export function settingsFor(url: string, more: Partial<ArchiveSettings> = {}): ArchiveSettings {
  return {
    url,
    accountKey: CANARIES.accountKey,
    signing: { scheme: "hmac", algorithm: "sha256", encoding: "base64", secret: CANARIES.secret },
    timeoutMs: 30_000,
    connections: 4,
    ...more,
  };
}

export function openOn(
  server: Pick<RawServer, "url">,
  more: Partial<ArchiveSettings> = {},
  clock: Clock = systemClock,
): Promise<HttpArchive> {
  return HttpArchive.open(settingsFor(server.url, more), clock);
}

export function fileOf(bytes: Buffer): UploadFile {
  return { sizeBytes: bytes.length, bytes };
}

export function scan(file: UploadFile = fileOf(Buffer.from("%PDF-1.7 scan")), more = {}): Upload {
  return { folderId: 7, filename: "scan.pdf", file, sha256: unasked, ...more };
}

/** The digest of a file that is sent by a scheme that does not sign it. */
export function unasked(): never {
  throw new Error("nobody signs the digest");
}

/** The error with which `running` rejects; anything else fails the test. */
export async function errorOf(running: Promise<unknown>): Promise<ArchiveError> {
  const error = await running.then(
    (value) => new Error(`resolved with ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (error instanceof ArchiveError) return error;
  throw error;
}
