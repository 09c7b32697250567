/** Files of a source that are certainly no documents: programs, libraries, disk images, links of Windows. */
import { counted } from "../std/wording.ts";
import type { RawPath } from "../std/raw-path.ts";

const TYPES: ReadonlySet<string> = new Set(
  (
    "exe dll sys drv scr com bat cmd ps1 vbs msi cab jar class so dylib o lib bin iso img vhd vhdx vmdk dmg pkg " +
    "deb rpm apk lnk url ini inf reg dat db sqlite log bak js py sh css"
  ).split(" "),
);

/** How many files of each such type there are, by extension in lower case. */
export class NoDocuments {
  readonly #types = new Map<string, number>();

  add(name: RawPath): void {
    const type = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase();
    if (type !== undefined && TYPES.has(type)) {
      this.#types.set(type, (this.#types.get(type) ?? 0) + 1);
    }
  }

  /** The most frequent first. */
  get types(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#types].sort(([, a], [, b]) => b - a));
  }
}

/** `3 files are no documents (2 exe, 1 dll)`; undefined where there are none. */
export function noDocumentsText(types: Readonly<Record<string, number>>): string | undefined {
  const all = Object.entries(types);
  if (all.length === 0) return undefined;
  const sum = all.reduce((before, [, number]) => before + number, 0);
  const named = all.map(([type, number]) => `${number} ${type}`).join(", ");
  return `${counted(sum, "file")} ${sum === 1 ? "is no document" : "are no documents"} (${named})`;
}

/** What to write so that they are not sent. */
export function leaveOutText(types: Readonly<Record<string, number>>): string {
  const names = Object.keys(types);
  const pattern = names.length === 1 ? names[0] : `{${names.join(",")}}`;
  return `To leave them out, set \`exclude: ["**/*.${pattern}"]\`.`;
}
