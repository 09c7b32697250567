/** `mirrors[].hooks`: commands that have a say in a mirror's documents, or get to know what became of them. */
import { resolve } from "node:path";
import { z } from "zod";
import { section, setting, type Settings } from "./kind.ts";
import { choice, duration, wholeNumber, word } from "./kinds.ts";
import { afterVeto } from "./place-kinds.ts";

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
    }),
    concurrency: setting(wholeNumber(1, 32).prefault(2), {
      meaning: "How many run at the same time.",
    }),
  };
}

const before = section(
  {
    ...running("[/etc/scanferry/hooks/check-invoice]"),
    onFailure: setting(choice("hold", "send").prefault("hold"), {
      meaning:
        "If the hook fails: `hold` the document and run the hook again later, or `send` it without the hook.",
    }),
    afterVeto: setting(afterVeto().prefault("keep"), {
      meaning:
        "What happens to the file of a vetoed document: `keep`, or `move` to a folder outside every source.",
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

type HooksShape = z.output<typeof hooksSection>;

/** How a command is run: the program, absolute or a name that is looked for in `PATH`, and its arguments. */
export type Hook = {
  readonly command: readonly string[];
  readonly timeoutMs: number;
  /** How many of it may run at the same time. */
  readonly concurrency: number;
};

/** Asked before a document is sent. */
export type BeforeHook = Hook & Pick<HooksShape["before"], "onFailure" | "afterVeto">;

/** The hooks of one mirror; absent ones are not asked. */
export type Hooks = Settings<{ before: BeforeHook | undefined; after: Hook | undefined }>;

/** The hooks of a mirror in which nothing was found wrong, if any; `folder`: the configuration file's. */
export function hooksOf({ before, after }: HooksShape, folder: string): Hooks | undefined {
  const asked = hookOf(before, folder);
  const told = hookOf(after, folder);
  if (!asked && !told) return undefined;
  const { onFailure, afterVeto } = before;
  return {
    ...(asked ? { before: { ...asked, onFailure, afterVeto } } : {}),
    ...(told ? { after: told } : {}),
  };
}

function hookOf(
  { command, timeout, concurrency }: HooksShape["after"],
  folder: string,
): Hook | undefined {
  const [program, ...rest] = command ?? [];
  if (program === undefined) return undefined;
  return { command: [programAt(program, folder), ...rest], timeoutMs: timeout, concurrency };
}

/** A relative path is relative to the configuration file; a bare name is looked for in `PATH`. */
export function programAt(program: string, folder: string): string {
  return program.includes("/") ? resolve(folder, program) : program;
}
