import type { Document } from "../domain/document.ts";
import type { AfterAction } from "../source/after.ts";
import type { Acted } from "../source/source.ts";
import { joinRaw } from "../std/raw-path.ts";
import type { LiveMirror } from "./context.ts";

/**
 * The second of two keys: the file goes, with what was read next to it, while it has the journaled content. Rejects
 * with `ChannelClosed` when the reader is gone.
 */
export function afterAction(
  { reader, row }: LiveMirror,
  { dir, name, digest, sentAt, attributes }: Document & { readonly digest: string },
  after: AfterAction,
): Promise<Acted> {
  const expected = { digest, sentAt, sidecar: attributes?.sidecar ?? null };
  return reader.act(row.id, joinRaw(dir, name), expected, after);
}
