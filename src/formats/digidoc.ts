import { listAsic } from "./asic.ts";
import { type DataFile, DataFiles } from "./data-files.ts";
import { listDdoc } from "./ddoc.ts";
import type { FileFormat } from "./file-format.ts";

/**
 * The documents inside a digidoc container, in its order: the data files of ASiC-E, ASiC-S, BDOC
 * and EDOC (ZIP), and those embedded in a DDOC (XML). None for any other kind.
 *
 * Containers come from anywhere: entries, decoded bytes and compression are bounded, names are
 * reduced to their last part, entities are not expanded. Never rejects: a broken container gives
 * what could be read. Signatures are not checked.
 */
export async function listDigidoc(bytes: Buffer, kind: FileFormat): Promise<DataFile[]> {
  const files = new DataFiles();
  try {
    if (kind === "digidoc") await listAsic(bytes, files);
    if (kind === "ddoc") listDdoc(bytes, files);
  } catch {
    // Broken from here on; what came before it is still worth listing.
  }
  return files.list;
}
