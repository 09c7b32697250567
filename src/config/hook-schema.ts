/** Commands around a mirror's documents, key by key; part of `mirror-schema.ts`. */
import { z } from "zod";
import { type Kind, kind, section, setting } from "./kind.ts";
import { choice, duration, textIn, wholeNumber } from "./kinds.ts";
import { putAway } from "./places.ts";
import { quoted } from "./quoted.ts";

/** One word of a command. */
function word(): Kind<string> {
  return kind("text", (value, refuse) => {
    const text = textIn(value, refuse);
    if (text.includes("\0")) return refuse(`${quoted(text)} holds a NUL character`, "remove it");
    return text;
  });
}

/** What every hook has. */
function running(example: string) {
  return {
    command: setting(z.array(word()).min(1).optional(), {
      meaning:
        "The program and its arguments, a list; no shell reads it. A program with a slash is a path, " +
        "relative to the configuration file; any other is looked for in `PATH`.",
      example,
      without: "no hook",
    }),
    timeout: setting(duration("100ms", "1h").prefault("30s"), {
      meaning: "After this long it is killed, with all that it started, and has failed.",
      example: "2m",
    }),
    concurrency: setting(wholeNumber(1, 32).prefault(2), {
      meaning: "How many of it run at the same time, at most.",
      example: "4",
    }),
  };
}

const before = section(
  {
    ...running("[/etc/scanferry/hooks/check-invoice]"),
    onFailure: setting(choice("hold", "send").prefault("hold"), {
      meaning:
        "What becomes of a document when the hook fails: it is held and the hook asked again later, or " +
        "it is sent as the rules have it.",
      example: "send",
    }),
    afterVeto: setting(putAway().prefault("keep"), {
      meaning:
        "What happens to the file of a document that the hook vetoes: `keep` it, or `move` it to a folder " +
        "outside of every source. It is never deleted.",
      example: "move:/srv/vetoed",
    }),
  },
  "A command that is asked of every document before it is sent; it may veto it, name it, and say what " +
    "goes with it.",
);

const after = section(
  running("[/etc/scanferry/hooks/tell-accounting, --quiet]"),
  "A command that is told what became of every document: converted, failed, vetoed or skipped.",
);

/** Hooks of a mirror. */
export const hooksSection = section(
  { before, after },
  "Commands of yours, run by the mirror's reader. See [hooks.md](hooks.md).",
);
