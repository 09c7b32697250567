import { z } from "zod";
import { channel, type ChannelName } from "../channel-definition.ts";
import { programAt } from "../hook-section.ts";
import { setting } from "../kind.ts";
import { word } from "../kinds.ts";

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
    run: setting(z.array(word(true)).min(1), {
      meaning: "The program and its arguments, without a shell.",
      example: "[/usr/local/bin/tell-us, --urgent]",
      required: true,
    }),
  },
  {
    about: { meaning: "Runs a program.", example: "[{ run: [/usr/local/bin/tell-us] }]" },
    taken: "the program ended well",
    build({ name = "command", events, run }, { folder }): CommandConfig {
      const [program = "", ...rest] = run;
      return {
        by: "command",
        name,
        events,
        run: [programAt(program, folder), ...rest],
        cwd: folder,
      };
    },
    programs: ({ run: [program = ""] }) => [program],
  },
);
