import { type FileFormat, kindOf } from "../formats/file-format.ts";
import type { Settings } from "./archive-options.ts";

/** Every kind of document that a limit may be set for. */
export const KINDS = [
  ...(["pdf", "tiff", "jpeg", "png", "gif", "webp", "bmp", "heic", "text", "office"] as const),
  ...(["digidoc", "ddoc", "zip", "xml", "mail", "unknown"] as const),
] as const satisfies readonly FileFormat[];

/** Bytes, by kind. */
export type FileLimits = { readonly [K in FileFormat]?: number };

/**
 * Bytes that an upload may have (Errors, FILE_SIZE_TOO_BIG: "larger than allowed for that kind of
 * document"). What kind it is, the content says before the name. The limit of a kind counts in
 * place of the general one, also where it is larger.
 */
export function sizeLimit(settings: Settings, head: Buffer, filename: string): number {
  const { maxFileSizeBytes, maxFileSizeByKind } = settings;
  return maxFileSizeByKind[kindOf(head, filename)] ?? maxFileSizeBytes;
}
