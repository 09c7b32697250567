/** Kinds of value: globs, patterns, templates, periods. Whatever can be found wrong is found when it is read. */
import picomatch from "picomatch";
import { quoted } from "../std/printable.ts";
import { baseOf } from "../rules/folder.ts";
import { parsePeriod, type Period } from "../rules/dates.ts";
import { compilePattern, groupNames } from "../rules/pattern.ts";
import type { ExpiryFrom } from "../rules/rules.ts";
import { isLive, parseTemplate, type Template, TemplateFault } from "../rules/template.ts";
import { type Kind, kind, type Refuse } from "./kind.ts";
import { textIn } from "./kinds.ts";
import { folderIn } from "./place-kinds.ts";

/** Text with placeholders. */
export function template(): Kind<Template> {
  return kind("template", templateIn);
}

function templateIn(value: unknown, refuse: Refuse): Template {
  if (typeof value === "object" && value !== null) {
    return refuse("is no text: { starts a mapping", 'put it in quotes, e.g. "{stem}"');
  }
  const text = typeof value === "number" ? String(value) : textIn(value, refuse);
  try {
    return parseTemplate(text);
  } catch (error) {
    if (!(error instanceof TemplateFault)) throw error;
    const message = `character ${error.column} of ${quoted(text)}: ${error.message}`;
    return refuse(message, "fix the template; docs/rules.md has the values and functions");
  }
}

/** Where a mirror, or a rule, puts its documents: a folder path, perhaps with placeholders. */
export function targetTemplate(): Kind<Template> {
  return kind("archive folder path or template", (value, refuse) => {
    const target = templateIn(value, refuse);
    const whole = target.pieces.map((piece) => ("text" in piece ? piece.text : "x")).join("");
    const checked = folderIn(whole, refuse);
    if (isLive(target)) {
      folderIn(baseOf(target), refuse);
      return target;
    }
    return { source: target.source, pieces: [{ text: checked }] };
  });
}

/** A pattern over relative paths (a regular expression of JavaScript, Unicode-aware). */
export function pattern(): Kind<string> {
  return kind("pattern", (value, refuse) => patternIn(textIn(value, refuse), refuse));
}

function patternIn(text: string, refuse: Refuse): string {
  if (text === "") return refuse("a pattern is empty", "write e.g. '(?<year>\\d{4})/.*'");
  try {
    compilePattern(text);
    return text;
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^.*: /s, "") : "";
    return refuse(
      `${quoted(text)} is not a regular expression: ${why}`,
      "fix it, in single quotes",
    );
  }
}

/** How long until a document expires; `never` for no date. */
export function expiryPeriod(): Kind<Period | "never"> {
  return kind("period or `never`", (value, refuse) => {
    return value === "never" ? value : periodIn(value, refuse);
  });
}

/** A period of years, months, weeks or days. */
export function period(): Kind<Period> {
  return kind("period", periodIn);
}

function periodIn(value: unknown, refuse: Refuse): Period {
  const period = typeof value === "string" ? parsePeriod(value) : undefined;
  return period ?? refuse(`${quoted(value)} is not a period`, "write 7y, 6mo, 2w or 30d");
}

/** `uploaded`, `modified`, `sidecar` or `name(PATTERN)`. */
export function expiryFrom(): Kind<ExpiryFrom> {
  return kind("`uploaded`, `modified`, `sidecar`, `name(PATTERN)`", (value, refuse): ExpiryFrom => {
    if (value === "uploaded" || value === "modified" || value === "sidecar") return { kind: value };
    const fix = "write uploaded, modified, sidecar or 'name((?<date>\\d{4}-\\d\\d-\\d\\d))'";
    const inner = typeof value === "string" ? /^name\((.+)\)$/s.exec(value)?.[1] : undefined;
    if (inner === undefined) return refuse(`${quoted(value)} is none of them`, fix);
    const checked = patternIn(inner, refuse);
    if (!groupNames(checked).some((name) => name === "date" || name === "year")) {
      return refuse("the pattern has no group named date, nor one named year", fix);
    }
    return { kind: "name", pattern: checked };
  });
}

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
