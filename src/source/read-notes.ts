/**
 * Reads what stands next to a document: its marker and its sidecar. Opened like documents: never
 * through a link, never waited for. What is wrong with them holds the document, and no other.
 */
import { createHash } from "node:crypto";
import { type BigIntStats, closeSync, fstatSync } from "node:fs";
import type { Problem } from "../domain/document.ts";
import type { FailureCode } from "../domain/failure.ts";
import { NOTES_BYTES_MAX } from "../rules/notes.ts";
import { type RawPath, shown } from "../std/raw-path.ts";
import { markerOf, type SidecarPlace, sidecarsOf } from "./companions.ts";
import { FileGone, FileUnreadable, fileFault, NotRegular, SourceOffline } from "./file-fault.ts";
import { openInside, statInside } from "./open-inside.ts";
import { readAt } from "./read-file.ts";
import type { FoundNotes, SourceSettings } from "./source.ts";

type Sidecar = Omit<Extract<FoundNotes, { kind: "notes" }>, "kind">;

/** Ends the reading: the document has to wait. */
class Waits extends Error {
  readonly problem: Problem;
  constructor(code: FailureCode, message: string) {
    super(message);
    this.problem = { code, message };
  }
}

/** Loads what reads notes: most readers never meet one. */
export const noteParser = () => import("../rules/parse-notes.ts");

/** Reads notes of the documents of one mirror. */
export class NotesReader {
  readonly #settings: SourceSettings;
  readonly #now: number;

  /** `now`: epoch milliseconds; tells a file that was written just now. */
  constructor(settings: SourceSettings, now: number) {
    this.#settings = settings;
    this.#now = now;
  }

  /** @throws `SourceOffline` */
  async of(path: RawPath): Promise<FoundNotes> {
    try {
      this.#assertMarked(path);
      return { kind: "notes", ...(await this.#sidecar(path)) };
    } catch (error) {
      if (!(error instanceof Waits)) throw error;
      return { kind: "waits", problem: error.problem };
    }
  }

  #assertMarked(path: RawPath): void {
    const { ready, source, network } = this.#settings;
    if (ready !== "marker") return;
    const marker = statInside(source, markerOf(path));
    if (!marker) throw new Waits("MARKER_MISSING", `there is no ${shown(markerOf(path))} yet`);
    // Written again, the document is not finished before its marker is put there again as well.
    const document = statInside(source, path);
    if (!document || !isOlder(marker, document, network)) return;
    throw new Waits("MARKER_MISSING", `${shown(markerOf(path))} is older than the document`);
  }

  async #sidecar(path: RawPath): Promise<Sidecar> {
    const { sidecar = "none" } = this.#settings;
    if (sidecar === "none") return { sidecar: null };
    for (const each of sidecarsOf(path)) {
      const read = await this.#read(each);
      if (read) return read;
    }
    if (sidecar === "optional") return { sidecar: null };
    throw new Waits("SIDECAR_MISSING", `there is no ${shown(path)}.yaml or .json yet`);
  }

  /** Undefined when there is no such file. */
  async #read({ path, ending, form }: SidecarPlace): Promise<Sidecar | undefined> {
    let fd: number | undefined;
    try {
      fd = openInside(this.#settings.source, path);
      const { size, mtimeMs } = fstatSync(fd, { bigint: true });
      const modifiedAt = Number(mtimeMs);
      this.#assertSettled(path, modifiedAt);
      if (size > NOTES_BYTES_MAX) {
        throw new Waits("NOTES_BROKEN", `${shown(path)} is larger than ${NOTES_BYTES_MAX} bytes`);
      }
      const bytes = await readAt(fd, 0, NOTES_BYTES_MAX);
      const { parseNotes } = await noteParser();
      const read = parseNotes(bytes, form);
      if ("notes" in read) {
        const digest = createHash("sha256").update(bytes).digest("hex");
        return { sidecar: read.notes, sidecarRead: { ending, digest, modifiedAt } };
      }
      const { line, column, message } = read.fault;
      throw new Waits("NOTES_BROKEN", `${shown(path)}:${line}:${column}: ${message}`);
    } catch (error) {
      return absent(error, path);
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }

  /** Half a file may be read as a whole one that says less. The clock of a share may run a little ahead. */
  #assertSettled(path: RawPath, modifiedAt: number): void {
    const age = Math.abs(this.#now - modifiedAt);
    if (age >= (this.#settings.settleMs ?? 0)) return;
    throw new Waits(
      "SIDECAR_MISSING",
      `${shown(path)} was written just now; it is read once it is quiet`,
    );
  }
}

/**
 * Whether a marker was put there before the last write to its document. A copy that preserves times
 * leaves an earlier mtime, but its ctime tells when it was made; a document's mtime that is later than
 * its ctime was set on purpose. Of a network file system only mtimes are to be trusted.
 */
function isOlder(marker: BigIntStats, document: BigIntStats, network: boolean): boolean {
  if (network) return marker.mtimeNs < document.mtimeNs;
  const { mtimeNs, ctimeNs } = document;
  const writtenNs = mtimeNs < ctimeNs ? mtimeNs : ctimeNs;
  return marker.mtimeNs < writtenNs && marker.ctimeNs < writtenNs;
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
