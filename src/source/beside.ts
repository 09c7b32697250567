/** The files that stand beside a document and are never one themselves, known by their names. */
import { NOTE_FORMS, type NoteForm } from "../rules/parse-notes.ts";
import { dirOf, joinRaw, nameOf, type RawPath } from "../std/raw-path.ts";

const SIDECAR = new RegExp(`^(?<document>.+\\.[^.]+)\\.(?:${NOTE_FORMS.join("|")})$`, "is");

/** Which files of a mirror belong to another one. */
export type BesideUse = { readonly sidecars: boolean };

/**
 * The document that `path` stands beside, by its name alone, so that one that comes first is not
 * sent: `x.pdf` for `x.pdf.yaml`. Undefined for a file that may be a document.
 */
export function documentBeside(path: RawPath, { sidecars }: BesideUse): RawPath | undefined {
  const name = sidecars ? SIDECAR.exec(nameOf(path))?.groups?.["document"] : undefined;
  return name === undefined ? undefined : joinRaw(dirOf(path), name as RawPath);
}

/** Where a document's sidecar may be, the first that is there being it. */
export function sidecarsOf(path: RawPath): { readonly path: RawPath; readonly form: NoteForm }[] {
  return NOTE_FORMS.map((form) => ({ path: `${path}.${form}` as RawPath, form }));
}
