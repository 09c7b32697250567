import picomatch from "picomatch";
import { documentOfCompanion } from "./companions.ts";
import { companionUse, eligibility } from "./eligible.ts";
import { nameText } from "./globs.ts";
import { IGNORED, type Ignored } from "./ignored.ts";
import type { SourceSettings } from "./source.ts";
import { joinRaw, partsOf, type RawPath, ROOT, shown } from "../std/raw-path.ts";

/** Why the rules of a mirror leave a file out, by its path alone; undefined when they do not. */
export function whyLeftOut(settings: SourceSettings, path: RawPath): string | undefined {
  if (eligibility(settings).file(path)) return undefined;
  const parts = partsOf(path);
  for (const [index, name] of parts.entries()) {
    const ignored = ignoredBy(name, index === parts.length - 1 ? "file" : "directory");
    if (ignored) {
      return `${shown(name)} is on the built-in list (${ignored.pattern}): ${ignored.because}`;
    }
  }
  const document = documentOfCompanion(path, companionUse(settings));
  if (document !== undefined)
    return `it belongs to ${shown(document)}, and if it was read is moved or deleted with it`;
  // Taken whole but for what is asked about, hidden or not.
  const plain = { ...settings, include: ["**/*", "**/.*", "**/.*/**"], exclude: [], without: [] };
  let dir = ROOT;
  for (const name of parts) {
    dir = joinRaw(dir, name);
    if (settings.without.includes(shown(dir))) {
      return `${shown(dir)} is where finished files are moved (after)`;
    }
  }
  const excluding = settings.exclude.find(
    (glob) => !eligibility({ ...plain, exclude: [glob] }).file(path),
  );
  if (excluding !== undefined) return `exclude has ${JSON.stringify(excluding)}`;
  const hidden = parts.find((name) => name.startsWith("."));
  const named = settings.include.map((glob) => JSON.stringify(glob)).join(", ");
  return hidden === undefined
    ? `no pattern of include matches: ${named}`
    : `${shown(hidden)} is hidden, and no pattern of include that matches has the dot: ${named}`;
}

function ignoredBy(name: RawPath, of: "file" | "directory"): Ignored | undefined {
  const text = nameText(name);
  return IGNORED.find(
    (ignored) =>
      (ignored.of ?? of) === of &&
      picomatch.makeRe(ignored.pattern, { dot: true, nocase: true }).test(text),
  );
}
