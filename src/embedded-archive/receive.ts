import type { MultipartFile } from "@fastify/multipart";
import type { FastifyRequest } from "fastify";
import type { Fields } from "./fields.ts";

/** Where a file's bytes go as they come in; undefined: nowhere, they are only read. */
export type Sink = { write(chunk: Buffer): Promise<void> } | undefined;

/** Small enough that a thousand requests at once fit in memory, ample for the interface's fields. */
export const MULTIPART_LIMITS = {
  fieldNameSize: 100,
  fieldSize: 64 * 1024,
  fields: 100,
  parts: 110,
  headerPairs: 50,
  headerSize: 16 * 1024,
  fileSize: Infinity,
};

/** A part is a file when it has a filename attribute, whether or not it has a name. */
export function isPartAFile(_name: unknown, _type: unknown, filename: unknown): boolean {
  return filename !== undefined;
}

/**
 * Reads a multipart body to its end. `begin` is called once: before the first file with the fields
 * so far, or after the last part of a body without a file. The file is the last part: fields that
 * come after it are read and left out, and so are further files.
 *
 * Rejects when the body breaks off, also between its last byte and its closing boundary, so
 * whatever was received of it is then not to be used.
 */
export async function receive(
  request: FastifyRequest,
  begin: (fields: Fields) => Promise<Sink>,
): Promise<void> {
  const fields: [string, string][] = [];
  let begun = false;
  for await (const part of request.parts()) {
    if (part.type === "field") {
      if (!begun) fields.push([part.fieldname, String(part.value)]);
      continue;
    }
    const sink = begun ? undefined : await begin(fields);
    begun = true;
    await pour(part, sink);
  }
  if (!begun) await begin(fields);
}

async function pour(part: MultipartFile, sink: Sink): Promise<void> {
  for await (const chunk of part.file) await sink?.write(chunk as Buffer);
}
