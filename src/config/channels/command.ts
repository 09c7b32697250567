import { resolve } from "node:path";
import { z } from "zod";
import { channel, type ChannelName } from "../channel-definition.ts";
import { type Kind, kind, setting } from "../kind.ts";
import { textIn } from "../kinds.ts";

/** By a program, which reads JSON; no shell is between. */
export type CommandConfig = ChannelName & {
  readonly by: "command";
  /** The program, then its arguments. */
  readonly run: readonly string[];
  /** Where it runs: the folder of the configuration. */
  readonly cwd: string;
};

export const command = channel(
  "command",
  {
    run: setting(z.array(word()).min(1), {
      meaning: "The program and its arguments, without a shell.",
      example: "[/usr/local/bin/tell-us, --urgent]",
      required: true,
    }),
  },
  {
    about: { meaning: "Runs a program.", example: "[{ run: [/usr/local/bin/tell-us] }]" },
    taken: "the program ended well",
    build({ name = "command", events, run }, _, { folder }): CommandConfig {
      const [program = "", ...rest] = run;
      // A relative path is relative to the file; a bare name is looked for in $PATH.
      const found = program.includes("/") ? resolve(folder, program) : program;
      return { by: "command", name, events, run: [found, ...rest], cwd: folder };
    },
    programs: ({ run: [program = ""] }) => [program],
  },
);

/** A program or one of its arguments. */
function word(): Kind<string> {
  return kind("text", (value, refuse) => {
    const text = typeof value === "number" ? String(value) : textIn(value, refuse);
    if (text.includes("\0")) return refuse("holds a NUL character", "remove it");
    return text;
  });
}
