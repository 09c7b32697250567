/** Commands around a mirror's documents, key by key; part of `mirror-schema.ts`. */
import { z } from "zod";
import { type Kind, kind, section, setting } from "./kind.ts";
import { choice, duration, textIn, wholeNumber } from "./kinds.ts";
import { afterAction } from "./place-kinds.ts";
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
      meaning: "The program and its arguments, without a shell.",
      example,
      without: "no hook",
    }),
    timeout: setting(duration("100ms", "1h").prefault("30s"), {
      meaning: "After this time it is killed with all that it started, and has failed.",
      example: "2m",
    }),
    concurrency: setting(wholeNumber(1, 32).prefault(2), {
      meaning: "How many run at the same time.",
      example: "4",
    }),
  };
}

const before = section(
  {
    ...running("[/etc/scanferry/hooks/check-invoice]"),
    onFailure: setting(choice("hold", "send").prefault("hold"), {
      meaning:
        "If the hook fails: `hold` the document and run the hook again later, or `send` it without the hook.",
      example: "send",
    }),
    afterVeto: setting(afterAction().prefault("keep"), {
      meaning:
        "What happens to the file of a vetoed document: `keep`, or `move` to a folder outside every source.",
      example: "move:/srv/vetoed",
    }),
  },
  "A command that runs before each document is sent. It may reject it, name it, and set metadata.",
);

const after = section(
  running("[/etc/scanferry/hooks/tell-accounting, --quiet]"),
  "A command that runs after each document was converted, failed, vetoed or skipped.",
);

/** Hooks of a mirror. */
export const hooksSection = section(
  { before, after },
  "Programs of yours. See [hooks.md](hooks.md).",
);
