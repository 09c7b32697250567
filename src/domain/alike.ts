import { partsOf, type RawPath, textOf } from "../std/raw-path.ts";

/** Whether two paths may be one to a file system that cares for neither case nor Unicode composition. */
export function areAlike(one: RawPath, other: RawPath): boolean {
  return one !== other && folded(one) === folded(other);
}

function folded(path: RawPath): string {
  return partsOf(path)
    .map((part) => (textOf(part) ?? part).normalize("NFC").toUpperCase())
    .join("/");
}
