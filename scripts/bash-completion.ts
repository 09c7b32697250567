/** Bash's completion for packages, as `scanferry completion bash` prints it. */
import { bashCompletion as scriptOf } from "../src/cli/completion/bash.ts";
import { grammarOf } from "../src/cli/completion/grammar.ts";
import { theProgram } from "./command-tree.ts";

/** The script that bash loads from bash-completion/completions/scanferry. */
export function bashCompletion(): string {
  return scriptOf(grammarOf(theProgram()));
}
