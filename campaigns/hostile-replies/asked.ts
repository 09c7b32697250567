/** The requests of the campaign, and what a right answer to each of them is. */
import type { HttpArchive } from "../../src/archive/http-archive.ts";
import type { Operation } from "../../src/wire/shapes.ts";
import type { Dice } from "../../test/simulation/dice.ts";

/** One request as it is made, and all that a judge may know of it. */
export type Asked = {
  readonly operation: Operation;
  /** Asked for by id; in uploads the folder that is sent to. */
  readonly id: number;
  readonly filename: string;
  readonly sizeBytes: number;
  /** The body goes out piece by piece, so that there is time to answer before its end. */
  readonly streamed: boolean;
};

const OTHERS = ["search", "documents", "digidoc", "document", "folders", "folder"] as const;
/** More than any socket buffers on its way. */
const STREAMED_BYTES = 8 << 20;
const streamedBytes = Buffer.alloc(STREAMED_BYTES, "streamed");

/** Some request; uploads more often than all the others together. */
export function someRequest(dice: Dice): Asked {
  const isUpload = dice.chance(0.65);
  const streamed = isUpload && dice.chance(0.02);
  return {
    operation: isUpload ? "upload" : (dice.pick(OTHERS) ?? "folder"),
    id: dice.int(1, 1_000_000),
    filename: `${dice.pick(["scan", "Überweisung", "a b", "scan"])}-${dice.int(1, 1e9)}.pdf`,
    sizeBytes: streamed ? STREAMED_BYTES : dice.int(1, 2_000),
    streamed,
  };
}

/** Makes the request; resolves with what the client took for the answer. */
export function ask(archive: HttpArchive, asked: Asked, signal: AbortSignal): Promise<unknown> {
  const { operation, id, filename, sizeBytes } = asked;
  switch (operation) {
    case "upload": {
      const bytes = streamedBytes.subarray(0, sizeBytes);
      const file = { sizeBytes, bytes };
      return archive.upload({ folderId: id, filename, file, sha256: () => "" }, signal);
    }
    case "document":
      return archive.document(id, signal);
    case "folder":
      return archive.folder(id, signal);
    case "documents":
      return archive.documents({ folderId: id, paginationSize: 50 }, signal);
    case "digidoc":
      return archive.digidoc({ digidocId: id, paginationSize: 50 }, signal);
    case "folders":
      return archive.folders({ folderId: id, paginationSize: 50 }, signal);
    case "search":
      return archive.search({ query: filename, paginationSize: 50 }, signal);
  }
}

type Json = Record<string, unknown>;

/** The reply of an archive that did what it was asked. */
export function rightReply(asked: Asked, dice: Dice): Json {
  switch (asked.operation) {
    case "upload": {
      const filesize = dice.chance(0.5) ? 0 : asked.sizeBytes;
      const document = aDocument(dice, { folderId: asked.id, filename: asked.filename, filesize });
      return { response: "OK", document };
    }
    case "document":
      return { response: "OK", document: aDocument(dice, { id: asked.id }) };
    case "folder":
      return { response: "OK", folder: aFolder(dice, { id: asked.id }) };
    case "folders":
      return listReply(dice, { folders: some(dice, () => aFolder(dice)) });
    case "search": {
      const folders = some(dice, () => aFolder(dice));
      return listReply(dice, { documents: some(dice, () => aDocument(dice)), folders });
    }
    default:
      return listReply(dice, { documents: some(dice, () => aDocument(dice)) });
  }
}

/** As many pages as there are items for. */
function listReply(dice: Dice, lists: Readonly<Record<string, readonly unknown[]>>): Json {
  const isEmpty = Object.values(lists).every(({ length }) => length === 0);
  const paginationPages = isEmpty ? 0 : dice.int(1, 3);
  return { response: "OK", paginationSize: 50, paginationPages, ...lists };
}

function some<T>(dice: Dice, make: () => T): T[] {
  return Array.from({ length: dice.int(0, 3) }, make);
}

function aDocument(dice: Dice, set: Json = {}): Json {
  return {
    id: dice.int(1, 1e9),
    folderId: dice.int(1, 1e6),
    digidoc: false,
    documentName: "scan",
    filename: `scan-${dice.int(1, 1e9)}.pdf`,
    createdDate: 1_700_000_000_000,
    uploadedDate: 1_700_000_000_001,
    pages: 0,
    filesize: 0,
    status: "UPLOADED",
    ...set,
  };
}

function aFolder(dice: Dice, set: Json = {}): Json {
  const id = dice.int(1, 1e9);
  return { id, parentId: 1, name: "Scans", createdDate: 1_700_000_000_000, root: false, ...set };
}
