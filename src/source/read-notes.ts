/**
 * Reads what the files beside a document say of it: its sidecar, and `.scanferry.yaml` of every
 * directory on the way. Opened like documents: never through a link, never waited for. What is
 * wrong with them holds the document, and no other.
 */
import { type BigIntStats, closeSync, fstatSync } from "node:fs";
import type { Trouble } from "../domain/document.ts";
import type { FailureCode } from "../domain/failure.ts";
import { DIRECTORY_FILE, NOTES_BYTES_MAX, type Notes } from "../rules/notes.ts";
import { parseNotes, type NoteForm } from "../rules/parse-notes.ts";
import { dirOf, joinRaw, partsOf, type RawPath, ROOT, rawOfText, shown } from "../std/raw-path.ts";
import { markerOf, sidecarsOf } from "./beside.ts";
import { FileGone, FileUnreadable, fileFault, NotRegular, SourceOffline } from "./file-fault.ts";
import { openInside, statInside } from "./open-inside.ts";
import { readAt } from "./read-file.ts";
import type { FoundNotes, SourceSettings } from "./source.ts";

const DIRECTORY_NAME = rawOfText(DIRECTORY_FILE);

/** Ends the reading: the document has to wait. */
class Waits extends Error {
  readonly trouble: Trouble;
  constructor(code: FailureCode, message: string) {
    super(message);
    this.trouble = { code, message };
  }
}

/** Reads notes of the documents of one mirror; directories are read once, so make one for each look. */
export class NotesReader {
  readonly #settings: SourceSettings;
  readonly #now: number;
  readonly #directories = new Map<RawPath, Promise<Notes | undefined>>();

  /** `now`: epoch milliseconds; tells a file that was written just now. */
  constructor(settings: SourceSettings, now: number) {
    this.#settings = settings;
    this.#now = now;
  }

  /** @throws `SourceOffline` */
  async of(path: RawPath): Promise<FoundNotes> {
    try {
      this.#assertMarked(path);
      const directories = [];
      for (const dir of waysTo(path)) {
        const notes = await this.#directory(dir);
        if (notes) directories.push(notes);
      }
      return { kind: "notes", directories, sidecar: await this.#sidecar(path) };
    } catch (error) {
      if (!(error instanceof Waits)) throw error;
      return { kind: "waits", trouble: error.trouble };
    }
  }

  #assertMarked(path: RawPath): void {
    const { ready, source, network } = this.#settings;
    if (ready !== "marker") return;
    const marker = statInside(source, markerOf(path));
    if (!marker) throw new Waits("MARKER_MISSING", `there is no ${shown(markerOf(path))} yet`);
    // Written anew, the document is not finished before its marker is put there anew as well.
    const document = statInside(source, path);
    if (!document || !isOlder(marker, document, network)) return;
    throw new Waits("MARKER_MISSING", `${shown(markerOf(path))} is older than the document`);
  }

  #directory(dir: RawPath): Promise<Notes | undefined> {
    const known = this.#directories.get(dir);
    if (known) return known;
    const reading = this.#read(joinRaw(dir, DIRECTORY_NAME), "yaml", "directory");
    this.#directories.set(dir, reading);
    return reading;
  }

  async #sidecar(path: RawPath): Promise<Notes | null> {
    const { sidecar = "none" } = this.#settings;
    if (sidecar === "none") return null;
    for (const each of sidecarsOf(path)) {
      const notes = await this.#read(each.path, each.form, "sidecar");
      if (notes) return notes;
    }
    if (sidecar === "optional") return null;
    throw new Waits("SIDECAR_MISSING", `there is no ${shown(path)}.yaml, .json or .xmp yet`);
  }

  /** Undefined when there is no such file. */
  async #read(
    path: RawPath,
    form: NoteForm,
    of: "sidecar" | "directory",
  ): Promise<Notes | undefined> {
    let fd: number | undefined;
    try {
      fd = openInside(this.#settings.source, path);
      const { size, mtimeMs } = fstatSync(fd);
      this.#assertSettled(path, mtimeMs);
      if (size > NOTES_BYTES_MAX) {
        throw new Waits("NOTES_BROKEN", `${shown(path)} is larger than ${NOTES_BYTES_MAX} bytes`);
      }
      const read = parseNotes(await readAt(fd, 0, NOTES_BYTES_MAX), form, of);
      if ("notes" in read) return read.notes;
      const { line, column, message } = read.fault;
      throw new Waits("NOTES_BROKEN", `${shown(path)}:${line}:${column}: ${message}`);
    } catch (error) {
      return absent(error, path);
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }

  /** Half a file may be read as a whole one that says less. */
  #assertSettled(path: RawPath, modifiedAt: number): void {
    const age = this.#now - modifiedAt;
    if (age < 0 || age >= (this.#settings.settleMs ?? 0)) return;
    throw new Waits(
      "SIDECAR_MISSING",
      `${shown(path)} was written just now; it is read once it is quiet`,
    );
  }
}

/**
 * Whether a marker was put there before the last write to its document. A copy that preserves times
 * leaves an earlier mtime, but its ctime tells when it was made; a document's mtime that is later than
 * its ctime was set by somebody. Of a network file system only mtimes are to be trusted.
 */
function isOlder(marker: BigIntStats, document: BigIntStats, network: boolean): boolean {
  if (network) return marker.mtimeNs < document.mtimeNs;
  const { mtimeNs, ctimeNs } = document;
  const writtenNs = mtimeNs < ctimeNs ? mtimeNs : ctimeNs;
  return marker.mtimeNs < writtenNs && marker.ctimeNs < writtenNs;
}

/** The directories from the source down to the one the file is in. */
function waysTo(path: RawPath): RawPath[] {
  const dirs = [ROOT];
  for (const part of partsOf(dirOf(path))) dirs.push(joinRaw(dirs.at(-1) ?? ROOT, part));
  return dirs;
}

/** Undefined for a file that is not there. */
function absent(error: unknown, path: RawPath): undefined {
  if (error instanceof Waits) throw error;
  const fault = fileFault(error, path);
  if (fault instanceof FileGone) return undefined;
  if (fault instanceof NotRegular) {
    throw new Waits("NOTES_BROKEN", `${shown(path)}:1:1: ${fault.message}`);
  }
  if (fault instanceof FileUnreadable && !(fault instanceof SourceOffline)) {
    throw new Waits("FILE_UNREADABLE", `${shown(path)}: ${fault.message}`);
  }
  throw fault;
}
