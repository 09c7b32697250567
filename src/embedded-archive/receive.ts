import type { Multipart, MultipartFile } from "@fastify/multipart";
import type { FastifyRequest } from "fastify";
import type { Draft } from "./blobs.ts";
import type { Fields } from "./parameters.ts";
import { Refusal } from "./refusal.ts";

/**
 * Characters of all fields together: as many as a url-encoded body may have. Small enough that a
 * thousand requests at once fit in memory, ample for the interface's fields.
 */
const FIELDS_LENGTH_MAX = 1024 * 1024;

/**
 * Bytes that are read of a file that is refused already, by a wrong signature say: most clients read no reply
 * before they have sent all, and nobody may send without end.
 */
const REFUSED_BYTES_MAX = 64 * 1024 * 1024;

/** A file may be of any size, since its bytes are passed on as they come; all else is kept in memory. */
export const MULTIPART_LIMITS = {
  fieldNameSize: 100,
  fieldSize: FIELDS_LENGTH_MAX,
  fields: 100,
  parts: 110,
  headerPairs: 50,
  headerSize: 16 * 1024,
  fileSize: Infinity,
};

/**
 * What the parser hands over as bytes: a part with a filename attribute, which is the file, whether or
 * not it has a name; and fields that call themselves JSON. Of those it would give what they mean, and
 * what is signed and stored is the text.
 */
export function isPartAFile(_name: unknown, type: unknown, filename: unknown): boolean {
  return filename !== undefined || String(type).startsWith("application/json");
}

/**
 * Reads a multipart body to its end. `begin` is called once: before the first file with the fields
 * so far, or after the last part of a body without a file. The file's bytes go where it says; undefined: nowhere.
 *
 * Rejects when the fields are too long; when a part before the file has no name, or anything with one follows the
 * file, which is the last part (7), so that nothing is stored without what came with it; and when the body breaks off,
 * also between its last byte and its closing boundary, so whatever was received of it is then not to be used.
 */
export async function receive(
  request: FastifyRequest,
  begin: (fields: Fields) => Promise<Draft | undefined>,
): Promise<void> {
  const fields: [string, string][] = [];
  let length = 0;
  let begun = false;
  let isNameless = false;
  for await (const part of request.parts()) {
    // The type knows only files that have a filename.
    if (part.type === "field" || (part.filename as string | undefined) === undefined) {
      const value = await textOf(part);
      isNameless ||= part.fieldname === undefined;
      // The file's part without its filename attribute is no file, and no field that is signed either.
      if (part.fieldname === undefined || part.fieldname === "file") continue;
      if (begun) throw new Refusal("MALFORMED_REQUEST", 400);
      length += value?.length ?? 0;
      // A field that was cut off cannot be checked, nor the signature over it. Not read to the end,
      // for the parser keeps every field.
      if (value === undefined || length > FIELDS_LENGTH_MAX)
        throw new Refusal("REQUEST_TOO_LARGE", 413);
      fields.push([part.fieldname, value]);
      continue;
    }
    if (begun || isNameless) throw new Refusal("MALFORMED_REQUEST", 400);
    begun = true;
    await pour(part, await begin(fields));
  }
  if (!begun) await begin(fields);
}

/** A field's text as it was sent; undefined when it is longer than all may be together. */
async function textOf(part: Multipart): Promise<string | undefined> {
  if (part.type === "field") return part.valueTruncated ? undefined : String(part.value);
  const chunks: Buffer[] = [];
  let length = 0;
  // Read to its end also where it is not wanted: what follows it comes only then.
  for await (const chunk of part.file) {
    length += (chunk as Buffer).length;
    if (length <= FIELDS_LENGTH_MAX) chunks.push(chunk as Buffer);
  }
  return length <= FIELDS_LENGTH_MAX ? Buffer.concat(chunks).toString() : undefined;
}

async function pour(part: MultipartFile, draft: Draft | undefined): Promise<void> {
  let refused = 0;
  for await (const chunk of part.file) {
    if (draft) await draft.write(chunk as Buffer);
    else refused += (chunk as Buffer).length;
    if (refused > REFUSED_BYTES_MAX) throw new Refusal("REQUEST_TOO_LARGE", 413);
  }
}
