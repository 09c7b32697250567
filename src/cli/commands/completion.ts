import { Argument, type Command } from "commander";
import { bashCompletion } from "../completion/bash.ts";
import { fishCompletion } from "../completion/fish.ts";
import { grammarOf } from "../completion/grammar.ts";
import { zshCompletion } from "../completion/zsh.ts";
import type { Shell } from "../shell.ts";
import { examples } from "../option-values.ts";

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

/** `scanferry completion`: what a shell needs to complete commands, options and their values. */
export function addCompletion(program: Command, shell: Shell): void {
  program
    .command("completion")
    .description("print the script for completion in a shell")
    .addArgument(new Argument("<shell>", "which one").choices(Object.keys(SCRIPTS)))
    .action((name: keyof typeof SCRIPTS) => shell.out.write(SCRIPTS[name](grammarOf(program))))
    .addHelpText(
      "after",
      examples(
        "source <(scanferry completion bash)",
        "scanferry completion zsh > /usr/local/share/zsh/site-functions/_scanferry",
        "scanferry completion fish > ~/.config/fish/completions/scanferry.fish",
      ),
    );
}
