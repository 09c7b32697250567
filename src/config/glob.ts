import picomatch from "picomatch";
import { type Kind, kind } from "./kind.ts";
import { textIn } from "./kinds.ts";
import { quoted } from "./quoted.ts";

/** A glob over paths relative to a mirror's source. Forms that can never match are refused. */
export function glob(): Kind<string> {
  return kind("glob", (value, refuse) => {
    const text = textIn(value, refuse);
    const shown = `${quoted(text)} matches nothing`;
    if (text.trim() === "") return refuse("a glob is empty", 'write e.g. "**/*.pdf"');
    if (/^!(?!\()/.test(text)) {
      return refuse(
        `${quoted(text)} turns the pattern round`,
        "put it under exclude, without the !",
      );
    }
    const below = text.replace(/^(\.?\/)+/, "");
    if (below !== text)
      return refuse(`${shown}: paths are relative to the source`, `write "${below}"`);
    if (text.endsWith("/")) return refuse(`${shown}: it names no file`, `write "${text}**"`);
    try {
      picomatch.makeRe(text, { dot: true, strictBrackets: true });
    } catch {
      return refuse(`${quoted(text)} is not a glob`, "close its brackets, or escape them with \\");
    }
    return text;
  });
}

/** The glob of everything below a folder, whatever characters its name has. */
export function globBelow(folder: string): string {
  return `${folder.replace(/[\\*?[\]{}()!+@|^$]/g, "\\$&")}/**`;
}
