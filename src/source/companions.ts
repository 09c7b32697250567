/** The files that stand next to a document and are never one themselves, known by their names. */
import { NOTE_FORMS, type NoteForm } from "../rules/notes.ts";
import { dirOf, joinRaw, nameOf, type RawPath } from "../std/raw-path.ts";

const SIDECAR = new RegExp(`^(?<document>.+\\.[^.]+)\\.(?:${NOTE_FORMS.join("|")})$`, "is");

/** Which files of a mirror belong to another one. */
export type CompanionUse = { readonly sidecars: boolean; readonly markers: boolean };

const MARKER = /^(?<document>.+)\.done$/is;

/**
 * The document that `path` stands next to, by its name alone, so that one that comes first is not
 * sent: `x.pdf` for `x.pdf.yaml`. Undefined for a file that may be a document.
 */
export function documentOfCompanion(path: RawPath, use: CompanionUse): RawPath | undefined {
  const found =
    (use.sidecars ? SIDECAR.exec(nameOf(path)) : null) ??
    (use.markers ? MARKER.exec(nameOf(path)) : null);
  const name = found?.groups?.["document"];
  return name === undefined ? undefined : joinRaw(dirOf(path), name as RawPath);
}

/** The marker that says a document is finished; what is in it does not matter. */
export function markerOf(path: RawPath): RawPath {
  return `${path}.done` as RawPath;
}

/** A place where a document's sidecar may be. */
export type SidecarPlace = {
  readonly path: RawPath;
  readonly ending: string;
  readonly form: NoteForm;
};

/** Where a document's sidecar may be, the first that is there being it; scanners' PCs also write capitals. */
export function sidecarsOf(path: RawPath): SidecarPlace[] {
  return NOTE_FORMS.flatMap((form) =>
    [form, form.toUpperCase()].map((ending) => {
      return { path: `${path}.${ending}` as RawPath, ending, form };
    }),
  );
}
