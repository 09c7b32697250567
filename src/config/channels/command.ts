import { z } from "zod";
import { channel } from "../channel-definition.ts";
import { programAt } from "../mirror-section.ts";
import { setting, settings } from "../kind.ts";
import { word } from "../kinds.ts";

export const command = channel(
  "command",
  {
    run: setting(z.array(word(true)).min(1), {
      meaning: "The program and its arguments, without a shell.",
      example: "[/usr/local/bin/tell-us, --urgent]",
    }),
  },
  {
    about: { meaning: "Runs a program.", example: "[{ run: [/usr/local/bin/tell-us] }]" },
    taken: "the program ended well",
    build({ name = "command", events, run }, { folder }) {
      const [program = "", ...rest] = run;
      const found = [programAt(program, folder), ...rest];
      return settings({ by: "command" as const, name, events, run: found, cwd: folder });
    },
    programs: ({ run: [program = ""] }) => [program],
  },
);

/** By a program, which reads JSON; no shell is between. `cwd` is the folder of the configuration. */
export type CommandConfig = ReturnType<typeof command.build>;
